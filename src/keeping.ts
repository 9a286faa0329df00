import type { Clock } from './domain/clock.ts';
import type { Log } from './log.ts';
import type { Self } from './metrics/self.ts';
import type { State } from './state/state.ts';

type KeepingOptions = {
  readonly log: Log;
  readonly self: Pick<Self, 'stateResets'>;
  readonly clock: Pick<Clock, 'after'>;
};

/** Says where the state comes from, and copies it once in a while and at the end; a copy that fails costs nothing but itself. */
export function keepState(state: State, { log, self, clock }: KeepingOptions): { readonly stop: () => Promise<void> } {
  const { origin } = state;
  if (origin.kind !== 'usual') {
    self.stateResets.inc();
    log.error(
      { setAside: origin.damaged },
      origin.kind === 'restored'
        ? 'the state was damaged: its last copy is in its place, and what has ended since is read again before it is shown'
        : 'the state was damaged and there is no copy of it: counting starts anew',
    );
  }
  let copying: Promise<void> = Promise.resolve();
  function copy(): void {
    copying = state.backUp().catch((error: unknown) => log.error({ error }, 'the state can not be copied'));
  }
  let cancel = clock.after(everyMs, copyAgain);
  function copyAgain(): void {
    cancel = clock.after(everyMs, copyAgain);
    copy();
  }
  return {
    stop: async () => {
      cancel();
      await copying;
      copy();
      await copying;
    },
  };
}

const everyMs = 600_000;
