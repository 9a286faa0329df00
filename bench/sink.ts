import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The orders for the collector; `count` asks for the number of spans so far. */
export type SinkWord = 'up' | 'slow' | 'down' | 'count';
export type SinkCount = { readonly traces: number; readonly spans: number };

/** A collector in its own thread, which can be slow or refuse everything. */
export async function startSink() {
  const worker = new Worker(new URL('trace-sink.ts', import.meta.url));
  // These casts are safe: the thread first sends its address, and then answers every order.
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
