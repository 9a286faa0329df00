import type { Config } from '../config/config.ts';
import { type ReloadedConfig, reloadConfig } from '../config/reload.ts';
import { type Clock, sleep } from '../domain/clock.ts';
import { formatComplaint, type ReloadOutcome } from '../domain/complaint.ts';
import type { Log } from '../log.ts';
import type { Loaded } from './load.ts';

export type ReloadingOptions = {
  readonly loaded: Pick<Loaded, 'config' | 'loadAgain'>;
  readonly log: Log;
  /** Applies another configuration completely, or not at all. */
  readonly apply: (config: Config) => Promise<void>;
  readonly onOutcome: (outcome: ReloadOutcome) => void;
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
};

/**
 * Reloads, never two at once and at most one a second. Calls during a reload share the next one, which reads the files
 * again.
 */
export function createReloading({
  loaded,
  log,
  apply,
  onOutcome,
  clock,
}: ReloadingOptions): () => Promise<ReloadOutcome> {
  let running = loaded.config;
  let beganTicks = Number.NEGATIVE_INFINITY;
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<ReloadOutcome> | undefined;

  async function reloadNow(): Promise<ReloadOutcome> {
    const outcome = toOutcome(await attempt());
    onOutcome(outcome);
    if (outcome.ok) {
      for (const warning of outcome.warnings) log.warn({ option: warning }, 'not reloaded');
      log.info({ servers: running.servers.length }, 'configuration reloaded');
    } else {
      for (const complaint of outcome.complaints)
        log.error({ complaint }, 'configuration reload failed: previous configuration stays in force');
    }
    return outcome;
  }

  async function attempt(): Promise<ReloadedConfig> {
    try {
      const reloaded = await reloadConfig(loaded.loadAgain, running);
      if (!reloaded.ok) return reloaded;
      await apply(reloaded.config);
      running = reloaded.config;
      return reloaded;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, complaints: [{ place: 'reload', message }] };
    }
  }

  return () => {
    if (next !== undefined) return next;
    const asked = last.then(async () => {
      const waitMs = beganTicks + minApartMs - clock.ticks();
      if (waitMs > 0) await sleep(clock, waitMs);
      beganTicks = clock.ticks();
      next = undefined;
      return reloadNow();
    });
    next = asked;
    last = asked;
    return asked;
  };
}

/** Each reload ends polls and requests everything once: a program that reloads in a loop must not load the servers. */
const minApartMs = 1000;

function toOutcome(reloaded: ReloadedConfig): ReloadOutcome {
  if (reloaded.ok) return { ok: true, warnings: reloaded.warnings.map(formatComplaint) };
  return { ok: false, complaints: reloaded.complaints.map(formatComplaint) };
}
