export type Cost = { readonly seconds: number; readonly cpuSeconds: number };

/** The time that some work takes, and that of the processor on only this thread, so that neighbours do not count. */
export async function measureCost(work: () => Promise<void>): Promise<Cost> {
  const startedCpu = process.threadCpuUsage();
  const startedTicks = performance.now();
  await work();
  const { user, system } = process.threadCpuUsage(startedCpu);
  return { seconds: (performance.now() - startedTicks) / 1000, cpuSeconds: (user + system) / 1_000_000 };
}
