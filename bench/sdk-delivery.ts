import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Cost } from './cost.ts';

export type SdkTask = {
  readonly traces: number;
  /** `leave` keeps spans in the queue, `flush` sends them, `end` sends the rest and ends. */
  readonly afterwards: 'leave' | 'flush' | 'end';
};

/** Sends traces with OpenTelemetry's SDK in its own thread. */
export function startSdkDelivery(url: string) {
  const worker = new Worker(new URL('sdk-thread.ts', import.meta.url), { workerData: url });
  return {
    do: async (task: SdkTask): Promise<Cost> => {
      worker.postMessage(task);
      // This cast is safe: the thread answers each task.
      return ((await once(worker, 'message')) as [Cost])[0];
    },
    stop: () => worker.terminate(),
  };
}
