import { constants } from 'node:os';
import type { Log } from '../domain/log.ts';
import type { systemClock } from '../domain/system-clock.ts';

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

type Options = {
  log: Pick<Log, 'warn' | 'error'>;
  clock: Pick<typeof systemClock, 'ticks'>;
  /** Called if a second signal requests an immediate end. */
  leaveNow: () => void;
  source?: Pick<NodeJS.Process, 'on' | 'removeListener'>;
};

/**
 * Resolves at the first stop signal. The signal may arrive twice, because npm forwards signals that its process group also
 * receives. Signals at almost the same time count as one, and one later signal is ignored for a while. An interrupted stop would
 * lose the backup of the state and release no lease.
 */
export function awaitStopSignal({ log, clock, leaveNow, source = process }: Options): Promise<NodeJS.Signals> {
  let firstTicks: number | undefined;
  let hasIgnored = false;
  return new Promise((resolve) => {
    const listen = (signal: NodeJS.Signals): void => {
      firstTicks ??= clock.ticks();
      const sinceMs = clock.ticks() - firstTicks;
      resolve(signal);
      if (sinceMs < oneSignalMs) return;
      if (!hasIgnored && sinceMs < patienceMs) {
        hasIgnored = true;
        log.warn({ signal }, 'already stopping; another signal exits immediately');
        return;
      }
      log.error({ signal }, 'second signal to stop: exiting without a clean shutdown');
      leaveNow();
    };
    for (const signal of stopSignals) {
      source.on(signal, listen);
      source.removeListener(signal, leaveAtOnce);
    }
  });
}

/** Adds a listener: without one, the kernel does not deliver stop signals to the first process of a container. */
export function leaveOnStopSignals(): void {
  if (process.pid === 1) for (const signal of stopSignals) process.on(signal, leaveAtOnce);
}

function leaveAtOnce(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal]);
}

let isReloadAsked = false;
const noteReload = (): void => {
  isReloadAsked = true;
};

/**
 * Records a reload signal during the start. Without a listener, the signal would end the process, and systemd would not restart
 * it.
 */
export function noteReloadSignals(): void {
  process.on('SIGHUP', noteReload);
}

/** Ends the process on a reload signal, for commands that do not reload. */
export function endOnReloadSignals(): void {
  process.removeListener('SIGHUP', noteReload);
  if (isReloadAsked) process.kill(process.pid, 'SIGHUP');
}

/** Calls `reload` for each signal from now on, and once if there was a signal during the start. */
export function onReloadSignals(reload: () => void): void {
  process.on('SIGHUP', reload);
  process.removeListener('SIGHUP', noteReload);
  if (isReloadAsked) reload();
}

const oneSignalMs = 500;
const patienceMs = 10_000;
