import type { FixedConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { isSoundDocument } from '../executions/ledger/document-shapes.ts';
import type { Log } from '../log.ts';
import type { Self } from '../metrics/self.ts';
import { openSqliteState } from '../state/sqlite.ts';
import type { State, StateOrigin } from '../state/state.ts';
import { isSoundPending } from '../tracing/enrich/pending.ts';

type KeepingOptions = {
  readonly log: Log;
  readonly self: Pick<Self, 'stateResets'>;
  readonly clock: Pick<Clock, 'after'>;
};
type Keeping = {
  /** Copies it once more; told beforehand how long that may take. */
  readonly stop: (mayTake?: (ms: number) => void) => Promise<void>;
};
type StateOptions = Omit<KeepingOptions, 'clock'> & { readonly clock: Pick<Clock, 'now'> };

/** Opens the state that the configuration names; what is found damaged in it later is said and counted. */
export function openState({ state }: Pick<FixedConfig, 'state'>, { log, self, clock }: StateOptions): State {
  const rules = {
    isSound: (kind: string, body: unknown) => isSoundDocument(kind, body) && isSoundPending(kind, body),
    onDamage: (what: string) => {
      self.stateResets.inc();
      log.error({ what }, 'a part of the state was damaged and is quarantined');
    },
    onBroken: () => {
      self.stateResets.inc();
      log.error({ dir: state.dir }, 'the state was damaged while it is in use: a restart restores its last copy');
    },
    onMoved: (error: unknown) => {
      self.stateResets.inc();
      if (error === undefined)
        log.error({ dir: state.dir }, 'the state directory was removed or replaced: it is written again');
      else log.error({ dir: state.dir, error }, 'the state directory was removed or replaced, and nothing is counted');
    },
  };
  return openSqliteState(state.memory ? { ...rules, memory: true } : { ...rules, dir: state.dir }, clock);
}

/** Says where the state comes from, and copies it once in a while and at the end; a copy that fails costs nothing but itself. */
export function keepState(state: State, { log, self, clock }: KeepingOptions): Keeping {
  if (state.origin.kind !== 'usual') self.stateResets.inc();
  sayOrigin(state.origin, log);
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
    stop: async (mayTake) => {
      cancel();
      const mebibytes = state.bytes() / 2 ** 20;
      const ms = Math.ceil(mebibytes * msPerMebibyte);
      if (ms > worthSayingMs) log.info({ mebibytes: Math.round(mebibytes) }, 'copying the state before the end');
      // One may be under way, and must end first.
      mayTake?.(2 * ms);
      await copying;
      copy();
      await copying;
    },
  };
}

function sayOrigin(origin: StateOrigin, log: Log): void {
  switch (origin.kind) {
    case 'usual':
      if (origin.isUpgraded === true)
        log.info({}, 'the state has checksums from now on; what was damaged before can not be noticed');
      return;
    case 'behind':
      log.error(
        { lostCommits: origin.lostCommits },
        'the state has lost its last changes: what has ended since is read again before it is shown',
      );
      return;
    case 'restored':
      log.error(
        { quarantine: origin.damaged },
        'the state was damaged: its last copy is in its place, and what has ended since is read again before it is shown',
      );
      return;
    case 'anew':
      log.error(
        { quarantine: origin.damaged },
        'the state was damaged and there is no copy of it: counting starts anew',
      );
  }
}

const everyMs = 600_000;
/** On a busy machine; a copy is read again to see whether it is sound. */
const msPerMebibyte = 200;
const worthSayingMs = 2000;
