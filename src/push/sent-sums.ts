import type { Memories } from '../domain/memory.ts';
import type { Pause } from '../domain/pause.ts';
import { isEmpty, type Sent, toDelta, toSent, toSeriesKey } from './deltas.ts';
import type { Point, ScrapedFamily } from './read-families.ts';

/** Computes what is new in points, and keeps what the backend has of each series. */
export type SentSums = {
  /** Returns what was added since the point was last sent; undefined if nothing was. Later calls see it as sent. */
  readonly take: (family: ScrapedFamily, point: Point) => Promise<Point | undefined>;
  /** Returns how to undo the calls of `take` since the previous call of this function. */
  readonly endBatch: () => () => void;
  /** Stores all sums, so that a restart continues from them. */
  readonly store: (nowMs: number) => Promise<void>;
  /** When the sums were last stored by a push; undefined before. */
  readonly sinceMs: () => number | undefined;
};

type Unit = { readonly firstMs: number; readonly sums: Map<string, Sent>; isUsed: boolean; stored: string };

/**
 * A series that is older than the first push is sent from then on: its present value would look like a sudden increase.
 * Sums are stored with the server that they are about, and so go with it to another replica; the exporter's own
 * counters begin again with each process.
 */
export function createSentSums({ recall, remember }: Memories, startedMs: number, pause: Pause): SentSums {
  const units = new Map<string, Unit>([['', { firstMs: startedMs, sums: new Map(), isUsed: true, stored: '' }]]);
  let undo: (() => void)[] = [];
  let sinceMs: number | undefined;

  async function open(server: string): Promise<Unit> {
    const known = units.get(server);
    if (known !== undefined) return known;
    const { firstMs = startedMs, atMs, sums = '[]' } = (await recall({ server, collector })) ?? {};
    if (sinceMs === undefined && typeof atMs === 'number') sinceMs = atMs;
    // The cast is true: it is stored below.
    const read = JSON.parse(String(sums)) as [string, Sent][];
    const unit = { firstMs: Number(firstMs), sums: new Map(read), isUsed: true, stored: String(sums) };
    units.set(server, unit);
    return unit;
  }

  return {
    take: async (family, point) => {
      const server = family.name.startsWith(own) ? '' : (point.labels['server'] ?? '');
      const unit = units.get(server) ?? (await open(server));
      unit.isUsed = true;
      const key = toSeriesKey(family, point);
      const before = unit.sums.get(key);
      const isOlder = (point.startSeconds ?? 0) < Math.floor(unit.firstMs / 1000);
      const delta = before === undefined && isOlder ? undefined : toDelta(point, before);
      const isNothing = delta === undefined || isEmpty(delta);
      if (isNothing && before !== undefined) return undefined;
      unit.sums.set(key, toSent(point));
      if (isNothing) return undefined;
      undo.push(() => {
        if (before === undefined) unit.sums.delete(key);
        else unit.sums.set(key, before);
      });
      return delta;
    },
    endBatch: () => {
      const ofBatch = undo;
      undo = [];
      return () => {
        for (const step of ofBatch) step();
      };
    },
    store: async (nowMs) => {
      for (const [server, unit] of units) {
        if (server === '') continue;
        // A server that another replica owns now, or that is no longer configured.
        if (!unit.isUsed) units.delete(server);
        const sums = await toText(unit.sums, pause);
        if (!unit.isUsed || sums === unit.stored) continue;
        await remember({ server, collector }, { firstMs: unit.firstMs, atMs: nowMs, sums });
        unit.stored = sums;
      }
      sinceMs = nowMs;
    },
    sinceMs: () => sinceMs,
  };
}

/** Writes JSON in pieces: there may be a hundred thousand. */
async function toText(sums: ReadonlyMap<string, Sent>, pause: Pause): Promise<string> {
  const entries: string[] = [];
  for (const entry of sums) {
    entries.push(JSON.stringify(entry));
    if (entries.length % entriesPerPiece === 0) await pause();
  }
  return `[${entries.join(',')}]`;
}

const entriesPerPiece = 500;
const collector = 'otlp-metrics';
const own = 'automation_exporter_';
