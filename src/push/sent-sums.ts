import type { Memories } from '../domain/memory.ts';
import type { Pause } from '../domain/pause.ts';
import { isEmpty, type Sent, toDelta, toSent, toSeriesKey } from './deltas.ts';
import type { Point, ScrapedFamily } from './read-families.ts';

/** Computes what is new in points, and keeps what the backend has of each series. */
export type SentSums = ReturnType<typeof createSentSums>;

type Unit = {
  readonly firstMs: number;
  /** By when they were last in a scrape, the longest ago first. */
  readonly sums: Map<string, Kept>;
  /** The latest push with series of it, and how many these are. */
  usedMs: number;
  used: number;
  stored: string;
};

/** The next point begins where this one ended: a receiver that adds them up begins anew after a gap. */
type Kept = { readonly sent: Sent; readonly atMs: number };

/**
 * A series that is older than the first push is sent from then on: its present value would look like a sudden increase.
 * Sums are stored with the server that they are about, and so go with it to another replica; the exporter's own
 * counters begin again with each process.
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
    /** Returns what was added since the point was last sent; undefined if nothing was. Later calls see it as sent. */
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
    /** Returns how to undo the calls of `take` since the previous call of this function. */
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
          // A server that another replica owns now, or that is no longer configured.
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
  // The cast is true: it is stored below.
  const entries = JSON.parse(String(sums)) as [string, Sent, number][];
  return {
    firstMs: Number(firstMs ?? startedMs),
    sums: new Map(entries.map(([key, sent, atMs]) => [key, { sent, atMs }])),
    usedMs: Number.NaN,
    used: 0,
    stored: String(sums),
  };
}

/** Series that are gone may come back, so they are kept until they are more than the others. */
function dropOldest(unit: Unit): void {
  for (const key of unit.sums.keys()) {
    if (unit.sums.size <= 2 * unit.used + spareSeries) break;
    unit.sums.delete(key);
  }
}

const spareSeries = 1000;

/** Writes JSON in pieces: there may be a hundred thousand. */
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
