import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Cost } from './cost.ts';

export type SdkTask = {
  readonly traces: number;
  /** `leave` keeps spans in the queue, `flush` sends them before it is full, `end` sends the rest and ends. */
  readonly afterwards: 'leave' | 'flush' | 'end';
};

/** The SDK's path to a collector, in its own thread, so that optimisations for one path do not help the other. */
export function startSdkDelivery(url: string) {
  const worker = new Worker(new URL('sdk-thread.ts', import.meta.url), { workerData: url });
  return {
    do: async (task: SdkTask): Promise<Cost> => {
      worker.postMessage(task);
      // This cast is safe: the thread answers each task with its cost.
      return ((await once(worker, 'message')) as [Cost])[0];
    },
    stop: () => worker.terminate(),
  };
}
