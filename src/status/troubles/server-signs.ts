import type { Endpoint } from '../../api/endpoint.ts';
import { type SystemInfo, systemInfo } from '../../api/endpoints/system.ts';
import { toDuration, toTime } from '../../domain/ages.ts';
import type { Clock } from '../../domain/clock.ts';
import { type Limits, toPatienceMs, usualLimits } from '../limits.ts';
import type { Trouble } from '../problem-kinds.ts';

/** Clock, threads, heap and start in one response. */
type Sample = {
  readonly ticks: number;
  readonly skewMs: number | undefined;
  /** The start by the exporter's clock, so that a step of the server clock does not change it. */
  readonly startedAtMs: number | undefined;
  readonly running: number | undefined;
  readonly threads: number | undefined;
  readonly heapRatio: number | undefined;
};

/**
 * Stores the values that servers report about themselves for half an hour, because a single value proves little about
 * threads and heap. If a server or member stops reporting, its problems end, because they may be over.
 */
export function createServerSigns(clock: Pick<Clock, 'now' | 'ticks'>, everyMs = 0, limits = usualLimits.server) {
  const validForMs = toPatienceMs(everyMs);
  const known = new Map<string | undefined, { member: string | undefined; samples: readonly Sample[] }>();
  return {
    /** Records a response of a member, or of the common address of several members. */
    note: (member: string | undefined, endpoint: Endpoint<unknown>, answer: unknown): void => {
      if (!isInfo(endpoint, answer)) return;
      const sample = toSample(answer, clock);
      const isRecent = ({ ticks }: Sample): boolean => sample.ticks - ticks < limits.memoryWindowMs;
      for (const [key, { samples }] of known) if (!samples.some(isRecent)) known.delete(key);
      const key = member ?? answer.server.serverUUID;
      const kept = known.get(key)?.samples.filter(isRecent) ?? [];
      // If responses follow each other quickly, only the last response is stored.
      const before = kept.at(-2);
      const isClose = before !== undefined && sample.ticks - before.ticks < minApartMs;
      known.set(key, { member, samples: [...(isClose ? kept.slice(0, -1) : kept), sample] });
    },
    troubles: (): readonly Trouble[] =>
      [...known.values()].flatMap(({ member, samples }) => {
        if (clock.ticks() - (samples.at(-1)?.ticks ?? 0) > validForMs) return [];
        return [...findTroubles(samples, clock.now(), limits)].map((trouble) => ({ ...trouble, member }));
      }),
  };
}

const minApartMs = 10_000;
/** A mean over a shorter time is not reliable. */
const minSpanMs = 60_000;
const minHeapSpanMs = 15 * 60_000;

function isInfo(endpoint: Endpoint<unknown>, answer: unknown): answer is SystemInfo {
  return endpoint.name === systemInfo.name && answer !== null;
}

function toSample({ timestampMs, stats }: SystemInfo, { now, ticks }: Pick<Clock, 'now' | 'ticks'>): Sample {
  const { memory, scheduler, uptime } = stats;
  const skewMs = timestampMs === undefined ? undefined : timestampMs - now();
  const isHeap = memory.total !== undefined && memory.free !== undefined && memory.max !== undefined && memory.max > 0;
  return {
    ticks: ticks(),
    skewMs,
    startedAtMs: uptime.since === undefined ? undefined : uptime.since - (skewMs ?? 0),
    running: scheduler.running,
    threads: scheduler.threadPoolSize,
    heapRatio: isHeap ? ((memory.total ?? 0) - (memory.free ?? 0)) / (memory.max ?? 1) : undefined,
  };
}

function* findTroubles(samples: readonly Sample[], nowMs: number, limits: Limits['server']): Generator<Trouble> {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return;
  const { skewMs = 0, threads = 0, startedAtMs } = last;
  if (Math.abs(skewMs) > limits.clockSkewSeconds * 1000) {
    const way = skewMs > 0 ? 'ahead of' : 'behind';
    const detail = `The server clock is ${toDuration(Math.abs(skewMs))} ${way} the exporter's: one of the two is wrong`;
    yield { kind: 'clock', text: "its clock differs from the exporter's", detail };
  }
  const lately = samples.filter(({ ticks }) => last.ticks - ticks <= limits.schedulerWindowMs);
  const busy = lately.reduce((sum, { running = 0 }) => sum + running, 0) / lately.length;
  const spanMs = last.ticks - (lately[0]?.ticks ?? last.ticks);
  if (threads > 0 && spanMs >= minSpanMs && busy >= limits.schedulerUsedRatio * threads) {
    const detail = `${busy.toFixed(1)} of ${threads} on average: new executions start late or not at all`;
    yield { kind: 'saturated', text: 'all scheduler threads are busy', detail };
  }
  const least = Math.min(...samples.map(({ heapRatio = 0 }) => heapRatio));
  if (last.ticks - first.ticks >= minHeapSpanMs && least > limits.memoryUsedRatio) {
    const detail = `At least ${Math.round(least * 100)} % of the heap has been in use for ${toDuration(last.ticks - first.ticks)}`;
    yield { kind: 'memory', text: 'is running out of heap', detail };
  }
  const earliestMs = Math.min(...samples.map((sample) => sample.startedAtMs ?? Infinity));
  if (startedAtMs !== undefined && startedAtMs - earliestMs > limits.restartSeconds * 1000) {
    const detail = `Executions that were running at ${toTime(startedAtMs, nowMs)} were interrupted`;
    yield { kind: 'restarted', text: 'restarted', detail };
  }
}
