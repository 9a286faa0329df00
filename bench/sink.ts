import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the collector is to do, and what it has taken so far. */
export type SinkWord = 'up' | 'slow' | 'down' | 'count';
export type SinkCount = { readonly traces: number; readonly spans: number };

/** A collector on a thread of its own; told to, it is slow, or takes nothing. */
export async function startSink() {
  const worker = new Worker(new URL('trace-sink.ts', import.meta.url));
  // The casts are true: the thread first says where it listens, and then answers every word.
  const [url] = (await once(worker, 'message')) as [string];
  return {
    url,
    ask: async (word: SinkWord): Promise<SinkCount> => {
      worker.postMessage(word);
      return ((await once(worker, 'message')) as [SinkCount])[0];
    },
    stop: () => worker.terminate(),
  };
}
