import type { Log } from '../log.ts';
import type { systemClock } from '../system-clock.ts';

type EndOptions = {
  readonly log: Pick<Log, 'error'>;
  readonly clock: Pick<typeof systemClock, 'after'>;
  /** Called where it does not end in time. */
  readonly leaveLate: () => void;
};

/** Ends something in a time that grows only by what it says that it still has to do. */
export async function endInTime(
  { log, clock, leaveLate }: EndOptions,
  stop: (mayTake: (ms: number) => void) => Promise<void>,
): Promise<void> {
  let cancel = watch(longestStopMs);
  function watch(ms: number): () => void {
    return clock.after(ms, () => {
      log.error({ afterSeconds: ms / 1000 }, 'shutdown timed out, exiting');
      leaveLate();
    });
  }
  await stop((ms) => {
    cancel();
    cancel = watch(longestStopMs + ms);
  });
  cancel();
}

/** The longest time that a stop may take without a large state. */
const longestStopMs = 5000;
