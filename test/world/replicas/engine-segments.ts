import {
  FencedError,
  type Replica,
  type Segment,
  type SegmentChoice,
  type SegmentOwner,
  type Segments,
} from '../../../src/state/shared-state.ts';
import type { Unit } from './engine.ts';

type SegmentParts = {
  readonly unit: (name: string) => Unit;
  readonly units: () => ReadonlyMap<string, Unit>;
  readonly nowMs: () => number;
  readonly timeline: () => number;
  readonly ask: <Answer>(work: () => Answer, isWrite: boolean) => Promise<Answer>;
};

/** What owners show, as the database keeps it: fenced by the lease, and by the version that the owner has left. */
export function createSegments({ unit, units, nowMs, timeline, ask }: SegmentParts, { owner }: Replica): Segments {
  const left = new Map<string, { readonly epoch: number; readonly version: number; readonly isLast: boolean }>();
  return {
    write: async (name, epoch, families) => {
      const known = left.get(name);
      const before = known?.epoch === epoch ? known : { epoch, version: 0, isLast: false };
      left.set(name, { ...before, isLast: false });
      const version = await ask(() => {
        const found = unit(name);
        fenceSegments(found, owner, epoch);
        if (found.version < before.version || (before.isLast && found.version !== before.version)) {
          left.delete(name);
          throw new FencedError('the database has lost series', 'behind');
        }
        found.version = Math.max(found.version + 1, Math.floor(nowMs()));
        found.timeline = timeline();
        for (const [family, segment] of found.segments) if (segment.epoch < epoch) found.segments.delete(family);
        for (const { family, bytes } of families)
          found.segments.set(family, { unit: name, family, epoch, version: found.version, bytes });
        return found.version;
      }, true);
      left.set(name, { epoch, version, isLast: true });
    },
    read: (expiredMs, choose) =>
      ask(() => {
        const shown = [...units()].filter(([, found]) => found.timeline === undefined || found.timeline === timeline());
        const after = choose(new Map(shown.flatMap(([name, found]) => toOwner(name, found, nowMs() - expiredMs))));
        return [...units().values()].flatMap(({ segments }) => listNew(segments, after));
      }, false),
  };
}

function fenceSegments({ lease }: Unit, owner: string, epoch: number): void {
  if (lease?.owner !== owner || lease.epoch !== epoch) throw new FencedError('another epoch owns the unit', 'taken');
}

function toOwner(name: string, { lease, version, timeline }: Unit, afterMs: number): [string, SegmentOwner][] {
  if (lease === undefined || lease.expiresMs <= afterMs) return [];
  const { owner, epoch, expiresMs } = lease;
  return [[name, { owner, epoch, unwrittenMs: expiresMs - version, timeline: String(timeline) }]];
}

function listNew(segments: ReadonlyMap<string, Segment>, after: ReturnType<SegmentChoice>): Segment[] {
  return [...segments.values()].filter(({ unit, epoch, version }) => {
    const seen = after.get(unit);
    return seen?.epoch === epoch && version > seen.version;
  });
}
