import type { Cancel, Clock } from '../domain/clock.ts';
import { toGzip } from '../metrics/block.ts';
import type { Wanted } from '../metrics/exposition.ts';
import type { Segment } from '../metrics/segment.ts';
import { joinSegments, readSegmentBytes, toSegmentBytes } from '../metrics/shared-view.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import type { FamilySegment, Segments, Segment as StoredSegment } from '../state/shared-state.ts';

type WriterOptions = {
  readonly unit: string;
  readonly epoch: number;
  readonly snapshots: Pick<Snapshots, 'ofServer'>;
  readonly segments: Pick<Segments, 'write'>;
  readonly clock: Pick<Clock, 'after' | 'ticks'>;
  /** Called with each failed write; what it would have written is written later. */
  readonly onFault: (error: unknown) => void;
};

/** Writes what the owner of a server shows, for all replicas: families that have changed, once in a while. */
export function startSegmentWriter(options: WriterOptions): { readonly stop: () => Promise<void> } {
  const { unit, epoch, snapshots, segments, clock, onFault } = options;
  let written: ReadonlyMap<string, string> = new Map();
  let nextTicks = clock.ticks();
  let isStopped = false;
  let writing = Promise.resolve();
  let cancel: Cancel = clock.after(lookEveryMs, look);

  async function write(): Promise<void> {
    const shown = new Map(snapshots.ofServer(unit).map((segment) => [segment.family.name, segment]));
    const now = new Map([...shown].map(([name, segment]) => [name, toFingerprint(segment)]));
    const changed = [...now].filter(([name, print]) => written.get(name) !== print).map(([name]) => name);
    const gone = [...written.keys()].filter((name) => !now.has(name));
    if (changed.length + gone.length === 0) return;
    nextTicks = clock.ticks() + writeEveryMs;
    const families: FamilySegment[] = gone.map((family) => ({ family, bytes: new Uint8Array() }));
    for (const family of changed) {
      const segment = shown.get(family);
      if (segment !== undefined) families.push({ family, bytes: await toSegmentBytes(segment) });
    }
    await segments.write(unit, epoch, families);
    written = now;
  }

  function look(): void {
    const due = clock.ticks() >= nextTicks;
    writing = due ? write().catch(onFault) : Promise.resolve();
    void writing.then(() => {
      if (!isStopped) cancel = clock.after(lookEveryMs, look);
    });
  }

  return {
    stop: async () => {
      isStopped = true;
      cancel();
      await writing;
    },
  };
}

const lookEveryMs = 1000;
const writeEveryMs = 5000;

function toFingerprint({ samples: { text, openmetrics } }: Segment): string {
  return [text, openmetrics].map(({ crc, length }) => `${crc} ${length}`).join(' ');
}

export type ViewOfAll = {
  /** Reads what has changed, and shows every server whose owner lives; rejects while the database cannot be read. */
  readonly scrape: (wanted: Pick<Wanted, 'format' | 'gzip' | 'servers'>) => Promise<readonly Buffer[]>;
};

/** Shows the servers of all replicas. A scrape sees all that was written before it, so no counter falls, whoever answers. */
export function createViewOfAll(segments: Pick<Segments, 'epochs' | 'read'>): ViewOfAll {
  const units = new Map<string, Unit>();
  let reading: Promise<unknown> = Promise.resolve();

  async function refresh(): Promise<ReadonlyMap<string, number>> {
    const epochs = await segments.epochs(graceMs);
    const versions = new Map([...units].map(([unit, { version }]) => [unit, version]));
    try {
      for (const stored of await segments.read(versions)) await keep(units, stored);
    } catch (error) {
      // What was read of them is a part: all of it is read again.
      units.clear();
      throw error;
    }
    return epochs;
  }

  return {
    scrape: async ({ format, gzip, servers }) => {
      const turn = reading.then(refresh);
      reading = turn.catch(() => undefined);
      const body = joinSegments(listShown(units, await turn, servers), format);
      return gzip ? toGzip(body) : body.text;
    },
  };
}

type Unit = { epoch: number; version: number; readonly families: Map<string, Segment> };

/** For as long a server without an owner is shown as its last owner did: a takeover takes less. */
const graceMs = 30_000;

async function keep(units: Map<string, Unit>, { unit, family, epoch, version, bytes }: StoredSegment): Promise<void> {
  const segment = bytes.length === 0 ? undefined : await readSegmentBytes(bytes);
  const known = units.get(unit) ?? { epoch, version: 0, families: new Map<string, Segment>() };
  units.set(unit, known);
  known.version = Math.max(known.version, version);
  if (epoch < known.epoch) return;
  if (epoch > known.epoch) known.families.clear();
  known.epoch = epoch;
  if (segment === undefined) known.families.delete(family);
  else known.families.set(family, segment);
}

/** Lists what may be shown: what an earlier epoch has written may be more than the database still has. */
function listShown(
  units: ReadonlyMap<string, Unit>,
  epochs: ReadonlyMap<string, number>,
  servers: ReadonlySet<string> | undefined,
): readonly Segment[] {
  return [...units]
    .filter(([unit, { epoch }]) => epochs.get(unit) === epoch && servers?.has(unit) !== false)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, { families }]) => [...families.values()]);
}
