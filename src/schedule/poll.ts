import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../domain/log.ts';
import type { Self } from '../metrics/self.ts';
import type { Collector, OffReason } from './collector.ts';
import { judge, type Outcome, type PollKey, toWord } from './outcome.ts';
import type { Reading } from './reading.ts';
import type { Vitality } from './vitality.ts';

type PollOptions = {
  readonly key: PollKey;
  readonly collector: Pick<Collector, 'vital' | 'reads'>;
  readonly everyMs: number;
  readonly reading: Reading;
  readonly log: Log;
  readonly clock: Clock;
  readonly self: Self;
  readonly vitality: Vitality['ended'];
  /** Reports whether the server is known to be down, or to refuse the credentials. */
  readonly isAway?: () => boolean;
  readonly beyondLimit?: () => number;
};

export type Poll = ReturnType<typeof createPoll>;

export type LastPoll = {
  readonly outcome: Outcome;
  readonly endedAtMs: number;
  readonly tookMs: number;
  /** True if the poll spread its requests over its interval. */
  readonly isSpread?: true;
  /** The last time at which the poll had values. */
  readonly succeededAtMs: number | undefined;
  /** The minimum pause after the end of a poll. A denied poll skips some of its scheduled times. */
  readonly restsForMs: number;
  /** The number of series beyond the limit of the collector, which are not published. */
  readonly beyondLimit?: number | undefined;
};

/** The shortest interval of a poll that is off, which must notice new permissions and upgrades at low cost. */
export const retryMs = 300_000;

/** Wraps every collector: measures time, converts errors, counts and logs. */
export function createPoll(options: PollOptions) {
  const { key, collector, reading, self, vitality, log, clock, isAway = () => false } = options;
  const pollLog = createPollLog({ key, log, isVital: collector.vital, isAway });
  let last: LastPoll | undefined;
  let restsUntilTicks = Number.NEGATIVE_INFINITY;

  function report(outcome: Outcome, seconds: number): void {
    self.collectorDuration.set(key, seconds);
    const reason = outcome.result === 'off' ? outcome.reason : '';
    // The loop also removes series that were set before a reload.
    for (const other of reasons) if (other !== reason) self.collectorEnabled.remove({ ...key, reason: other });
    self.collectorEnabled.set({ ...key, reason }, Number(outcome.result !== 'off'));
    if (outcome.result === 'off') {
      reading.withdraw();
      self.collectorSuccess.remove(key);
      self.collectorSeries.remove(key);
      self.collectorInterval.remove(key);
    } else {
      self.collectorSuccess.set(key, Number(outcome.result === 'success'));
      self.collectorInterval.set(key, options.everyMs / 1000);
    }
    if (outcome.result === 'success') {
      self.collectorSeries.set(key, outcome.series);
      self.collectorLastSuccess.set(key, clock.now() / 1000);
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    const startedTicks = clock.ticks();
    if (startedTicks < restsUntilTicks) return;
    let outcome: Outcome;
    let fault: unknown;
    try {
      outcome = await reading.read(signal);
    } catch (error) {
      if (signal.aborted) return;
      fault = error;
      outcome = judge(error, collector.reads);
    }
    const tookMs = clock.ticks() - startedTicks;
    report(outcome, tookMs / 1000);
    if (collector.vital) vitality(fault, startedTicks);
    pollLog.note(outcome, fault);
    if (!collector.vital && outcome.result === 'off') restsUntilTicks = startedTicks + retryMs;
    const endedAtMs = clock.now();
    const succeededAtMs = outcome.result === 'success' ? endedAtMs : last?.succeededAtMs;
    const restsForMs = Math.max(0, restsUntilTicks - clock.ticks());
    const { isSpread } = reading;
    const beyondLimit = options.beyondLimit?.();
    last = { outcome, endedAtMs, tookMs, succeededAtMs, restsForMs, beyondLimit, ...(isSpread && { isSpread }) };
  }

  const wake = (): void => {
    restsUntilTicks = Number.NEGATIVE_INFINITY;
  };
  return {
    run,
    last: () => last,
    /** Polls again at the next run, even if the poll was off. */
    wake,
  };
}

const reasons: readonly string[] = Object.keys({
  '': true,
  config: true,
  version: true,
  denied: true,
  not_found: true,
  meaningless: true,
} satisfies Record<OffReason | '', true>);

type PollLogOptions = {
  key: PollKey;
  log: Log;
  /** True if errors of the poll are errors of the server, which are logged for the server. */
  isVital: boolean;
  /** Reports whether the server is known to be down, or to refuse the credentials. */
  isAway: () => boolean;
};

/** Logs the changes of one poll. An error of the whole server is logged once for the server, not for each poll. */
export function createPollLog({ key, log, isVital, isAway }: PollLogOptions) {
  let before: Outcome | undefined;
  /** The last logged error, until the poll succeeds. */
  let told: string | undefined;
  let failures = 0;

  /** Reports whether an error concerns the whole server: it may start an outage, which the next vital poll confirms. */
  function isOfServer(kind: string, fault: unknown): boolean {
    if (isAway()) return true;
    if (failures > silentFailures) return false;
    if (isVital && fault !== undefined) return kind === 'timeout';
    // If a sweep continued after errors, there is no error of the sweep itself, only errors of its requests.
    if (!(fault instanceof ApiError)) return fault === undefined && kindsOfServer.includes(kind);
    return fault.details.unsent === true || isOfWholeServer(fault);
  }

  function note(outcome: Outcome, fault: unknown): void {
    const { result } = outcome;
    if (result === 'failed') {
      failures += 1;
      if (told === toWord(outcome)) return log.debug({ ...key, ...outcome }, 'poll result unchanged');
      if (isOfServer(outcome.kind, fault))
        return log.debug({ ...key, ...outcome }, 'poll failed because the server does not respond');
      told = toWord(outcome);
      return log.warn({ ...key, kind: outcome.kind, error: outcome.message }, 'poll failed');
    }
    const isChange = before === undefined || toWord(before) !== toWord(outcome);
    const wasTold = told !== undefined;
    told = undefined;
    failures = 0;
    if (result === 'off') {
      if (isChange) log.info({ ...key, reason: outcome.reason, why: outcome.message }, 'collector switched off');
      return;
    }
    if (wasTold || before?.result === 'off') log.info({ ...key, series: outcome.series }, 'poll recovered');
    else if (before === undefined) log.debug({ ...key, series: outcome.series }, 'first poll succeeded');
    else log.debug({ ...key, ...outcome }, 'poll result unchanged');
  }

  return {
    note: (outcome: Outcome, fault: unknown): void => {
      note(outcome, fault);
      before = outcome;
    },
  };
}

const kindsOfServer: readonly string[] = ['network', 'timeout', 'server', 'busy', 'unauthorized'];

/**
 * How many consecutive errors of a poll may be the start of an outage. The vital poll that confirms the outage may take as long
 * as two tries.
 */
const silentFailures = 2;
