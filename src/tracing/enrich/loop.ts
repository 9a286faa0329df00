import type { Wait } from '../deliver/pause.ts';
import type { Enricher } from './enricher.ts';

/** Runs an enricher whenever there is work, one pass at a time. */
export function createEnrichLoop(enricher: Pick<Enricher, 'run'>, onFault: (error: unknown) => void, wait: Wait) {
  const stopping = new AbortController();
  let nap = new AbortController();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      nap = new AbortController();
      const { againInMs } = await enricher.run(stopping.signal).catch((error: unknown) => {
        onFault(error);
        return { againInMs: faultPauseMs };
      });
      await wait(againInMs ?? idleMs, AbortSignal.any([nap.signal, stopping.signal]));
    }
  }

  return {
    start: () => {
      running ??= run();
    },
    /** Call when there is work. */
    wake: () => nap.abort(),
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

export type EnrichLoop = ReturnType<typeof createEnrichLoop>;

const idleMs = 60_000;
const faultPauseMs = 15_000;
