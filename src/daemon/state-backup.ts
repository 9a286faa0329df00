import type { FixedConfig } from '../config/config.ts';
import { isSoundFingerprints } from '../diagnosis/lines/diagnoses.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import { isSoundDocument } from '../executions/ledger/document-shapes.ts';
import type { Self } from '../metrics/self.ts';
import { openSqliteState } from '../state/sqlite.ts';
import type { State, StateOrigin } from '../state/state.ts';
import { isSoundPending } from '../tracing/enrich/pending.ts';

type KeepingOptions = {
  readonly log: Log;
  readonly self: Pick<Self, 'stateResets'>;
  readonly clock: Pick<Clock, 'after'>;
};
type StateOptions = Omit<KeepingOptions, 'clock'> & { readonly clock: Pick<Clock, 'now'> };

/** Opens the configured state. Damage that is found later is logged and counted. */
export function openState({ state }: Pick<FixedConfig, 'state'>, { log, self, clock }: StateOptions): State {
  const rules = {
    isSound: (kind: string, body: unknown) =>
      isSoundDocument(kind, body) && isSoundPending(kind, body) && isSoundFingerprints(kind, body),
    onDamage: (what: string) => {
      self.stateResets.inc();
      log.error({ what }, 'damaged part of the state quarantined');
    },
    onBroken: () => {
      self.stateResets.inc();
      log.error({ dir: state.dir }, 'state damaged while in use: restart to restore the last backup');
    },
    onMoved: (error: unknown) => {
      self.stateResets.inc();
      if (error === undefined) log.error({ dir: state.dir }, 'state directory removed or replaced: writing it again');
      else log.error({ dir: state.dir, error }, 'state directory removed or replaced: counting stopped');
    },
  };
  return openSqliteState(state.memory ? { ...rules, memory: true } : { ...rules, dir: state.dir }, clock);
}

/** Logs the origin of the state, and makes backups at intervals and at the end. */
export function keepState(state: State, { log, self, clock }: KeepingOptions) {
  if (state.origin.kind !== 'usual') self.stateResets.inc();
  sayOrigin(state.origin, log);
  let copying: Promise<void> = Promise.resolve();
  let isStopping = false;
  function copy(): void {
    copying = state.backUp().catch((error: unknown) => log.error({ error }, 'state backup failed'));
  }
  let cancel = clock.after(everyMs, copyAgain);
  /** Starts a backup, unless one is in progress: both would write the same file. */
  function copyAgain(): void {
    copy();
    void copying.then(() => {
      if (!isStopping) cancel = clock.after(everyMs, copyAgain);
    });
  }
  return {
    /** Makes a last backup. First calls `mayTake` with the time that the backup may need. */
    stop: async (mayTake: (ms: number) => void): Promise<void> => {
      isStopping = true;
      cancel();
      const mebibytes = state.bytes() / 2 ** 20;
      const ms = Math.ceil(mebibytes * msPerMebibyte);
      if (ms > worthSayingMs) log.info({ mebibytes: Math.round(mebibytes) }, 'backing up the state before exit');
      // The time is doubled, because a backup in progress must end first.
      mayTake(2 * ms);
      await copying;
      copy();
      await copying;
    },
  };
}

function sayOrigin(origin: StateOrigin, log: Log): void {
  switch (origin.kind) {
    case 'usual':
      if (origin.isUpgraded === true) log.info({}, 'state upgraded to checksums: earlier damage cannot be detected');
      return;
    case 'behind':
      log.error(
        { lostCommits: origin.lostCommits },
        'state lost its last changes: executions since its last stored change are read again',
      );
      return;
    case 'restored':
    case 'anew': {
      const { kind, damaged } = origin;
      const what = damaged === undefined ? 'missing' : 'damaged';
      log.error(
        damaged === undefined ? {} : { quarantine: damaged },
        kind === 'restored'
          ? `state ${what}: last backup restored, reading the executions since then again`
          : `state ${what} and no backup found: counting restarts from the beginning`,
      );
    }
  }
}

const everyMs = 600_000;
/** The time for each MiB of a backup with its check, on a busy machine. */
const msPerMebibyte = 200;
const worthSayingMs = 2000;
