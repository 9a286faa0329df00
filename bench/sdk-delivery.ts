import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Cost } from './cost.ts';

export type SdkTask = {
  readonly traces: number;
  /** Leave them in the queue, see to it that the queue never runs over, or send what there is and end. */
  readonly afterwards: 'leave' | 'flush' | 'end';
};

/** The SDK's own way to a collector, on a thread of its own: what one way teaches the engine does not help the other. */
export function startSdkDelivery(url: string) {
  const worker = new Worker(new URL('sdk-thread.ts', import.meta.url), { workerData: url });
  return {
    do: async (task: SdkTask): Promise<Cost> => {
      worker.postMessage(task);
      // This cast is safe: the thread answers each task with what it cost.
      return ((await once(worker, 'message')) as [Cost])[0];
    },
    stop: () => worker.terminate(),
  };
}
