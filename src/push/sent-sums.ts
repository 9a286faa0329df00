import type { Memories } from '../domain/memory.ts';
import type { Pause } from '../domain/pause.ts';
import { isEmpty, type Sent, toDelta, toSent, toSeriesKey } from './deltas.ts';
import type { Point, ScrapedFamily } from './read-families.ts';

/** Computes increases of points, and keeps the last sent state of each series. */
export type SentSums = ReturnType<typeof createSentSums>;

type Unit = {
  readonly firstMs: number;
  /** Sorted by the last scrape with the series, oldest first. */
  readonly sums: Map<string, Kept>;
  /** The latest push with series of this unit, and their number. */
  usedMs: number;
  used: number;
  stored: string;
};

/** The next point begins where this one ended, because a receiver restarts its sum after a gap. */
type Kept = { readonly sent: Sent; readonly atMs: number };

/**
 * If a series is older than the first push, only its later increases are sent: its whole value would look like a sudden
 * increase. Sums are stored with their server, and so move with it to another replica; the exporter's own counters restart with
 * each process.
 */
export function createSentSums({ recall, remember }: Memories, startedMs: number, pause: Pause) {
  const units = new Map<string, Unit>([['', toUnit({}, startedMs)]]);
  let undo: (() => void)[] = [];

  async function open(server: string): Promise<Unit> {
    const unit = toUnit((await recall({ server, collector })) ?? {}, startedMs);
    units.set(server, unit);
    return unit;
  }

  return {
    /** Returns the increase since the point was last sent; undefined if there is none. Later calls count the increase as sent. */
    take: async (family: ScrapedFamily, point: Point, nowMs: number): Promise<Point | undefined> => {
      const server = family.name.startsWith(own) ? '' : (point.labels['server'] ?? '');
      const unit = units.get(server) ?? (await open(server));
      unit.used = unit.usedMs === nowMs ? unit.used + 1 : 1;
      unit.usedMs = nowMs;
      const key = toSeriesKey(family, point);
      const before = unit.sums.get(key);
      if (before !== undefined) {
        unit.sums.delete(key);
        unit.sums.set(key, before);
      }
      const isOlder = (point.startSeconds ?? 0) < Math.floor(unit.firstMs / 1000);
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
    /** Returns a function that undoes the calls of `take` since the previous call of this function. */
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
          // The server now belongs to another replica, or is no longer configured.
          units.delete(server);
          continue;
        }
        dropOldest(unit);
        if (server === '') continue;
        const sums = await toText(unit.sums, pause);
        if (sums === unit.stored) continue;
        await remember({ server, collector }, { firstMs: unit.firstMs, sums });
        unit.stored = sums;
      }
    },
  };
}

function toUnit({ firstMs, sums = '[]' }: Readonly<Record<string, unknown>>, startedMs: number): Unit {
  // This cast is safe: the code below writes this text.
  const entries = JSON.parse(String(sums)) as [string, Sent, number][];
  return {
    firstMs: Number(firstMs ?? startedMs),
    sums: new Map(entries.map(([key, sent, atMs]) => [key, { sent, atMs }])),
    usedMs: Number.NaN,
    used: 0,
    stored: String(sums),
  };
}

/** Removes the oldest series that are gone, if there are more of them than present ones: they may come back. */
function dropOldest(unit: Unit): void {
  for (const key of unit.sums.keys()) {
    if (unit.sums.size <= 2 * unit.used + spareSeries) break;
    unit.sums.delete(key);
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
const collector = 'otlp-metrics';
const own = 'automation_exporter_';
