import { createHash } from 'node:crypto';
import { sentSumsOwner as collector, type Memories } from '../domain/memory.ts';
import type { Pause } from '../domain/pause.ts';
import type { Point, PointHistogram, PointNative, ScrapedFamily } from './read-families.ts';

type Stored = {
  readonly memories: Memories;
  readonly epochOf?: ((server: string) => number | undefined) | undefined;
  /** The labels that the configuration drops from series, as text. */
  readonly droppedLabels: () => string;
};

type Unit = {
  /** The time before which a series counts as old, so that only its later increases are sent. */
  firstMs: number;
  /** The sums, sorted by the last scrape that contained the series, oldest first. */
  readonly sums: Map<string, Kept>;
  /** When series of the unit were last pushed, and their number. */
  usedMs: number;
  used: number;
  /** The largest number of series so far. */
  most: number;
  stored: string;
  /** The dropped labels as text; undefined in a state of an earlier release. */
  droppedLabels: string | undefined;
  epoch: number | undefined;
};

/** The next point begins where the last point ended, because a receiver restarts its sum after a gap. */
type Kept = { readonly sent: Sent; readonly atMs: number };

/**
 * Computes increases. For a series that is older than the first push, only later increases are sent, because its whole value
 * would look like a sudden increase. Sums are stored with their server, and so move with the server to another replica. The
 * exporter's own counters restart with each process.
 */
export function createSentSums({ memories, epochOf, droppedLabels }: Stored, startedMs: number, pause: Pause) {
  const { recall, remember } = memories;
  const units = new Map<string, Unit>([['', toUnit({}, startedMs)]]);
  let undo: (() => void)[] = [];

  async function open(server: string): Promise<Unit> {
    const epoch = epochOf?.(server);
    const unit = { ...toUnit((await recall({ server, collector })) ?? {}, startedMs), epoch };
    units.set(server, unit);
    return unit;
  }

  /** After a change of dropped labels, all series count as old: their sums may have been sent before, under other labels. */
  function begin(unit: Unit, nowMs: number): void {
    const dropped = droppedLabels();
    if ((unit.droppedLabels ?? dropped) !== dropped) unit.firstMs = Math.max(unit.firstMs, nowMs);
    unit.droppedLabels = dropped;
    unit.usedMs = nowMs;
    unit.used = 0;
  }

  return {
    /** Returns the increase since the point was last sent, if there is one. Later calls count the increase as sent. */
    take: async (family: ScrapedFamily, point: Point, nowMs: number): Promise<Point | undefined> => {
      const server = family.name.startsWith(own) ? '' : (point.labels['server'] ?? '');
      const known = units.get(server);
      const isOwn =
        known !== undefined && (known.usedMs === nowMs || server === '' || known.epoch === epochOf?.(server));
      const unit = isOwn ? known : await open(server);
      if (unit.usedMs !== nowMs) begin(unit, nowMs);
      unit.used += 1;
      const key = toSeriesKey(family, point.key);
      const fullKey = point.key.length === point.fullKey.length ? key : toSeriesKey(family, point.fullKey);
      const before = unit.sums.get(key) ?? unit.sums.get(fullKey);
      if (before !== undefined) {
        unit.sums.delete(fullKey);
        unit.sums.delete(key);
        unit.sums.set(key, before);
      }
      // The exporter's own counters began at 0 with the process.
      const isOlder = server !== '' && (point.startSeconds ?? 0) < Math.floor(unit.firstMs / 1000);
      const delta = before === undefined && isOlder ? undefined : toDelta(point, before?.sent);
      const isNothing = delta === undefined || isEmpty(delta);
      if (isNothing && before !== undefined) return undefined;
      unit.sums.set(key, { sent: toSent(point), atMs: nowMs });
      if (isNothing) return undefined;
      undo.push(() => {
        if (before === undefined) unit.sums.delete(key);
        else unit.sums.set(key, before);
      });
      return { ...delta, sinceMs: before?.atMs ?? 0 };
    },
    /** Returns a function that undoes the calls of `take` since the previous call of `endBatch`. */
    endBatch: (): (() => void) => {
      const ofBatch = undo;
      undo = [];
      return () => {
        for (const step of ofBatch) step();
      };
    },
    /** Stores all sums, so that a restart continues from them. */
    store: async (nowMs: number): Promise<void> => {
      for (const [server, unit] of units) {
        if (unit.usedMs !== nowMs) {
          // Units of servers that are no longer configured or belong to another replica are removed.
          units.delete(server);
          continue;
        }
        // The exporter's own counters stay, so that their totals are not sent again.
        if (server === '') continue;
        dropOldest(unit);
        const sums = await toText(unit.sums, pause);
        if (sums === unit.stored) continue;
        await remember({ server, collector }, { firstMs: unit.firstMs, sums, droppedLabels: unit.droppedLabels ?? '' });
        unit.stored = sums;
      }
    },
  };
}

function toUnit({ firstMs, sums = '[]', droppedLabels }: Readonly<Record<string, unknown>>, startedMs: number): Unit {
  // This cast is safe: the code below writes this text.
  const entries = JSON.parse(String(sums)) as [string, Sent, number][];
  return {
    firstMs: Number(firstMs ?? startedMs),
    sums: new Map(entries.map(([key, sent, atMs]) => [key, { sent, atMs }])),
    usedMs: Number.NaN,
    used: 0,
    most: 0,
    stored: String(sums),
    droppedLabels: typeof droppedLabels === 'string' ? droppedLabels : undefined,
    epoch: undefined,
  };
}

/**
 * Removes the oldest ended series, if their number exceeds the largest number of present series. Other ended series
 * stay, because they may return after an outage.
 */
function dropOldest(unit: Unit): void {
  unit.most = Math.max(unit.most, unit.used);
  for (const [key, { sent }] of unit.sums) {
    if (unit.sums.size <= 2 * unit.most + spareSeries) break;
    unit.sums.delete(key);
    unit.firstMs = Math.max(unit.firstMs, (sent[0] + 1) * 1000);
  }
}

const spareSeries = 1000;

/** Writes JSON in pieces, because there may be a hundred thousand sums. */
async function toText(sums: ReadonlyMap<string, Kept>, pause: Pause): Promise<string> {
  const entries: string[] = [];
  for (const [key, { sent, atMs }] of sums) {
    entries.push(JSON.stringify([key, sent, atMs]));
    if (entries.length % entriesPerPiece === 0) await pause();
  }
  return `[${entries.join(',')}]`;
}

const entriesPerPiece = 500;
const own = 'automation_exporter_';

/** The last sent state of a series: its start, and its sum or the parts of its histogram. */
type Sent = readonly [startSeconds: number, value: number, histogram?: SentHistogram];
type SentHistogram = Pick<PointHistogram, 'sum' | 'counts' | 'native'>;

/** Returns a hash, to save memory. */
function toSeriesKey({ name }: Pick<ScrapedFamily, 'name'>, key: Buffer): string {
  return createHash('sha1').update(`${name}\n`).update(key).digest('base64url').slice(0, 16);
}

function toSent({ startSeconds = 0, value, histogram }: Point): Sent {
  if (histogram === undefined) return [startSeconds, value];
  const { count, sum, counts, native } = histogram;
  return [startSeconds, count, { sum, counts, native }];
}

/** Returns the increase since a series was last sent; its whole value if it restarted or has a smaller value. */
function toDelta(point: Point, sent: Sent | undefined): Point {
  const [startSeconds, value, before] = sent ?? [0, 0];
  const { histogram } = point;
  const now = histogram?.count ?? point.value;
  if ((point.startSeconds ?? startSeconds) > startSeconds || now < value) return point;
  if (histogram === undefined) return { ...point, value: now - value };
  if (before === undefined) return point;
  const isSame = before.counts.length === histogram.counts.length;
  return {
    ...point,
    histogram: {
      ...histogram,
      count: now - value,
      sum: histogram.sum - before.sum,
      // If the bounds have changed, the increase of each bucket is unknown.
      counts: isSame
        ? histogram.counts.map((count, at) => Math.max(0, count - (before.counts[at] ?? 0)))
        : [...histogram.bounds.map(() => 0), now - value],
      native: histogram.native && subtract(histogram.native, before.native),
    },
  };
}

function subtract(now: PointNative, before: PointNative | undefined): PointNative {
  if (before === undefined) return now;
  const left = new Map<number, number>();
  for (let at = 0; at < now.buckets.length; at += 2) left.set(now.buckets[at] ?? 0, now.buckets[at + 1] ?? 0);
  for (let at = 0; at < before.buckets.length; at += 2) {
    let index = before.buckets[at] ?? 0;
    // The resolution may have been halved since the last push.
    for (let from = before.schema; from > now.schema; from -= 1) index = (index + 1) >> 1;
    left.set(index, (left.get(index) ?? 0) - (before.buckets[at + 1] ?? 0));
  }
  const buckets = [...left].filter(([, count]) => count > 0).flat();
  return { schema: now.schema, zeros: Math.max(0, now.zeros - before.zeros), buckets };
}

function isEmpty({ value, histogram }: Point): boolean {
  return (histogram?.count ?? value) === 0;
}
