import type { Cancel, Clock } from '../domain/clock.ts';
import { toGzip } from '../metrics/block.ts';
import type { Wanted } from '../metrics/exposition.ts';
import type { Segment } from '../metrics/segment.ts';
import { createSegmentJoin, type SegmentCodec } from '../metrics/shared-view.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import { leaseMs } from '../ownership/tenure.ts';
import type { FamilySegment, SegmentOwner, Segments, Segment as StoredSegment } from '../state/shared-state.ts';

type WriterOptions = {
  readonly unit: string;
  readonly epoch: number;
  readonly snapshots: Pick<Snapshots, 'ofServer'>;
  readonly segments: Pick<Segments, 'write'>;
  readonly clock: Pick<Clock, 'after' | 'ticks'>;
  readonly codec: SegmentCodec;
  readonly observe: {
    readonly written: () => void;
    /** Called with each failed write; what it would have written is written later. */
    readonly failed: (error: unknown) => void;
  };
};

export type SegmentWriter = {
  /** Writes soon, although nothing has changed: another server may have taken the database over. */
  readonly confirm: () => void;
  readonly stop: () => Promise<void>;
};

/**
 * Writes what the owner of a server shows, for all replicas: families that have changed, once in a while. Where none has, an
 * empty write says that they are still shown.
 */
export function startSegmentWriter(options: WriterOptions): SegmentWriter {
  const { unit, epoch, snapshots, segments, clock, codec, observe } = options;
  const written = new Map<string, string>();
  let nextTicks = clock.ticks();
  let confirmTicks = nextTicks;
  let isStopped = false;
  let writing = Promise.resolve();
  let cancel: Cancel = clock.after(lookEveryMs, look);

  async function write(): Promise<void> {
    const shown = new Map(snapshots.ofServer(unit).map((segment) => [segment.family.name, segment]));
    const now = new Map([...shown].map(([name, segment]) => [name, toFingerprint(segment)]));
    const changed = [...now].filter(([name, print]) => written.get(name) !== print).map(([name]) => name);
    const gone = [...written.keys()].filter((name) => !now.has(name));
    if (changed.length + gone.length === 0 && (now.size === 0 || clock.ticks() < confirmTicks)) return;
    nextTicks = clock.ticks() + writeEveryMs;
    const families: FamilySegment[] = gone.map((family) => ({ family, bytes: new Uint8Array() }));
    for (const family of changed) {
      const segment = shown.get(family);
      if (segment !== undefined) families.push({ family, bytes: await codec.toBytes(segment) });
    }
    // Until the write is answered nobody knows what the database has: after a failure everything is written.
    for (const family of [...written.keys(), ...changed]) written.set(family, '');
    await segments.write(unit, epoch, families);
    written.clear();
    for (const [family, print] of now) written.set(family, print);
    confirmTicks = clock.ticks() + confirmEveryMs;
    observe.written();
  }

  function look(): void {
    const due = clock.ticks() >= nextTicks;
    writing = due ? write().catch(observe.failed) : Promise.resolve();
    void writing.then(() => {
      if (!isStopped) cancel = clock.after(lookEveryMs, look);
    });
  }

  return {
    confirm: () => {
      nextTicks = clock.ticks();
      confirmTicks = nextTicks;
    },
    stop: async () => {
      isStopped = true;
      cancel();
      await writing;
    },
  };
}

const lookEveryMs = 1000;
const writeEveryMs = 5000;
const confirmEveryMs = 10_000;

function toFingerprint({ samples: { text, openmetrics } }: Segment): string {
  return [text, openmetrics].map(({ crc, length }) => `${crc} ${length}`).join(' ');
}

export type ViewOfAll = {
  /** Reads what has changed, and shows every server whose owner lives; rejects while the database cannot be read. */
  readonly scrape: (wanted: Pick<Wanted, 'format' | 'gzip' | 'servers'>) => Promise<readonly Buffer[]>;
};

type ViewOptions = {
  readonly segments: Pick<Segments, 'read'>;
  readonly codec: SegmentCodec;
  /** Returns the configured servers: of others nothing is shown, whatever the database still has. */
  readonly servers: () => readonly string[];
};

/** Shows the servers of all replicas. A scrape sees all that was written before it, so no counter falls, whoever answers. */
export function createViewOfAll({ segments, codec, servers: toServers }: ViewOptions): ViewOfAll {
  const units = new Map<string, Unit>();
  const joinSegments = createSegmentJoin();
  let reading: Promise<unknown> = Promise.resolve();

  async function refresh(): Promise<void> {
    try {
      const read = await segments.read(graceMs, (owners) => keepOwned(units, owners, toServers()));
      for (const stored of read) await keep(units, stored, codec);
    } catch (error) {
      // What was read of them is a part: all of it is read again.
      units.clear();
      throw error;
    }
  }

  return {
    scrape: async ({ format, gzip, servers }) => {
      const turn = reading.then(refresh);
      reading = turn.catch(() => undefined);
      await turn;
      const body = joinSegments(listShown(units, servers), format);
      return gzip ? toGzip(body) : body.text;
    },
  };
}

/** What is known of the segments of a server, all of them by one owner in one epoch. */
type Unit = {
  readonly owner: string;
  readonly epoch: number;
  readonly timeline: string | null;
  version: number;
  readonly families: Map<string, Segment>;
};

/** For as long a server without an owner is shown as its last owner did: a takeover takes less. */
const graceMs = 30_000;

/** For as long an owner that renews its lease is shown although it writes nothing: it writes every ten seconds. */
const silentMs = 30_000;

/**
 * Forgets all but what the present owners have written, and returns that: what an earlier epoch wrote may be more than the database
 * still has, and after lost transactions the same versions, or the same epoch, may mean something else.
 */
function keepOwned(
  units: Map<string, Unit>,
  owners: ReadonlyMap<string, SegmentOwner>,
  servers: readonly string[],
): ReadonlyMap<string, Unit> {
  const owned = new Map(
    [...owners].filter(([unit, { unwrittenMs }]) => servers.includes(unit) && unwrittenMs <= leaseMs + silentMs),
  );
  for (const unit of units.keys()) if (!owned.has(unit)) units.delete(unit);
  for (const [unit, { owner, epoch, timeline }] of owned) {
    const known = units.get(unit);
    if (known?.owner === owner && known.epoch === epoch && known.timeline === timeline) continue;
    units.set(unit, { owner, epoch, timeline, version: 0, families: new Map() });
  }
  return units;
}

async function keep(
  units: ReadonlyMap<string, Unit>,
  { unit, family, version, bytes }: StoredSegment,
  { readBytes }: SegmentCodec,
): Promise<void> {
  const segment = bytes.length === 0 ? undefined : await readBytes(bytes);
  const known = units.get(unit);
  if (known === undefined) return;
  known.version = Math.max(known.version, version);
  if (segment === undefined) known.families.delete(family);
  else known.families.set(family, segment);
}

function listShown(units: ReadonlyMap<string, Unit>, servers: ReadonlySet<string> | undefined): readonly Segment[] {
  return [...units]
    .filter(([unit]) => servers?.has(unit) !== false)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, { families }]) => [...families.values()]);
}
