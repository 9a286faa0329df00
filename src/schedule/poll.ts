import type { Client } from '../api/client.ts';
import type { Collector } from '../collectors/collector.ts';
import type { Clock } from '../domain/clock.ts';
import type { Memory } from '../domain/memory.ts';
import type { Log } from '../log.ts';
import type { Self } from '../metrics/self.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import type { State } from '../state/state.ts';
import { judge, type Outcome, toWord } from './judge.ts';
import type { Vitality } from './vitality.ts';

export type PollOptions = {
  readonly server: string;
  readonly collector: Collector;
  readonly everyMs: number;
  /** The longest that a request may take: a poll has at least that long, however often it runs. */
  readonly timeoutMs: number;
  readonly client: Client;
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly self: Self;
  readonly vitality: Vitality;
  readonly log: Log;
  readonly clock: Clock;
};

export type Poll = {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly last: () => LastPoll | undefined;
};

export type LastPoll = { readonly outcome: Outcome; readonly endedAtMs: number };

/** A snapshot lives for three intervals, but never shorter than this: one late poll is no outage. */
const shortestValidityMs = 60_000;

/** The one wrapper around every collector: it times, judges, counts, logs and publishes, alike for all. */
export function createPoll(options: PollOptions): Poll {
  const { server, collector, everyMs, timeoutMs, client, snapshots, self, vitality, log, clock } = options;
  const key = { server, collector: collector.name };
  const source = `${server} ${collector.name}`;
  const memories = createMemories(options);
  let last: LastPoll | undefined;

  async function collect(signal: AbortSignal): Promise<Outcome> {
    const before = await memories.recall();
    const lane = collector.vital ? 'vital' : 'normal';
    const api = client.within({ lane, forMs: Math.max(everyMs, timeoutMs), signal });
    const collected = await collector.collect(api, before, clock.now);
    if (collected.off !== undefined) return { result: 'off', ...collected.off };
    const { rows, memory } = collected;
    snapshots.publish({
      source,
      baseLabels: [['server', server]],
      rows,
      validForMs: Math.max(3 * everyMs, shortestValidityMs),
    });
    if (memory !== before) await memories.remember(memory);
    return { result: 'success', series: rows.length };
  }

  function report(outcome: Outcome, seconds: number): void {
    self.collectorDuration.set(key, seconds);
    self.collectorEnabled.remove({ ...key, reason: last?.outcome.result === 'off' ? last.outcome.reason : '' });
    const reason = outcome.result === 'off' ? outcome.reason : '';
    self.collectorEnabled.set({ ...key, reason }, Number(outcome.result !== 'off'));
    if (outcome.result === 'off') {
      snapshots.withdraw(source);
      self.collectorSuccess.remove(key);
      self.collectorSeries.remove(key);
    } else {
      self.collectorSuccess.set(key, Number(outcome.result === 'success'));
    }
    if (outcome.result === 'success') {
      self.collectorSeries.set(key, outcome.series);
      self.collectorLastSuccess.set(key, clock.now() / 1000);
    }
    logChange(log, key, outcome, last?.outcome);
  }

  return {
    run: async (signal) => {
      const startedTicks = clock.ticks();
      let outcome: Outcome;
      let fault: unknown;
      try {
        outcome = await collect(signal);
      } catch (error) {
        if (signal.aborted) return;
        fault = error;
        outcome = judge(error, collector.reads);
      }
      report(outcome, (clock.ticks() - startedTicks) / 1000);
      if (collector.vital) vitality(fault);
      last = { outcome, endedAtMs: clock.now() };
    },
    last: () => last,
  };
}

/** What the collector keeps: read once, written when it changes. A disk that fails costs the memory, not the numbers. */
function createMemories({ server, collector, state, log }: PollOptions) {
  const key = { server, collector: collector.name };
  let known: Memory | undefined;
  return {
    recall: async (): Promise<Memory> => {
      try {
        known ??= (await state.recall(key)) ?? {};
      } catch (error) {
        log.error({ ...key, error }, 'what was kept can not be read');
        known = {};
      }
      return known;
    },
    remember: async (memory: Memory): Promise<void> => {
      known = memory;
      try {
        await state.remember(key, memory);
      } catch (error) {
        log.error({ ...key, error }, 'what has to survive a restart can not be kept');
      }
    },
  };
}

/** Once per change: a fault that lasts fills no log. */
function logChange(log: Log, key: object, outcome: Outcome, before: Outcome | undefined): void {
  if (before !== undefined && toWord(before) === toWord(outcome)) {
    log.debug({ ...key, ...outcome }, 'poll ended as before');
    return;
  }
  if (outcome.result === 'failed') log.warn({ ...key, kind: outcome.kind, error: outcome.message }, 'poll failed');
  else if (outcome.result === 'off')
    log.info({ ...key, reason: outcome.reason, why: outcome.message }, 'nothing to poll');
  else if (before === undefined) log.debug({ ...key, series: outcome.series }, 'first poll succeeded');
  else log.info({ ...key, series: outcome.series }, 'poll succeeds again');
}
