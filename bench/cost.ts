export type Cost = { readonly seconds: number; readonly cpuSeconds: number };

/** Measures the duration and the CPU time of work in this thread. */
export async function measureCost(work: () => Promise<void>): Promise<Cost> {
  const startedCpu = process.threadCpuUsage();
  const startedTicks = performance.now();
  await work();
  const { user, system } = process.threadCpuUsage(startedCpu);
  return { seconds: (performance.now() - startedTicks) / 1000, cpuSeconds: (user + system) / 1_000_000 };
}
