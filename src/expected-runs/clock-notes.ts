import type { SystemInfo } from '../api/endpoints/system.ts';
import type { Clock } from '../domain/clock.ts';
import { type Clocks, createClocks, type Leap, stepMs } from './clocks.ts';
import { type Sources, sourceKeys, timelineOf } from './deciding/sources.ts';
import { noteReading, type Span, type Timeline } from './deciding/timeline.ts';

/** Notes in the timelines which times no run can bear, because a clock was set ahead over them. */
export function createClockNotes(
  clock: Pick<Clock, 'now' | 'ticks'>,
  timelines: Map<string, Timeline>,
  changed: Set<string>,
): ClockNotes {
  const clocks = createClocks(clock);
  let isSkewHeard = false;

  function put(key: string, timeline: Timeline): void {
    timelines.set(key, timeline);
    changed.add(key);
  }

  function noteLeap(leap: Leap | undefined): void {
    if (leap === undefined) return;
    const { leaps } = sourceKeys;
    put(leaps, [...timelineOf(timelines, leaps), { value: 'leapt', ...leap }].slice(-mostLeaps));
  }

  function noteSkew(): void {
    const { skew } = sourceKeys;
    const nowMs = clocks.nowMs();
    const skewMs = Math.round(nowMs - clock.now());
    const before = timelineOf(timelines, skew).at(-1);
    const isSet = before === undefined || Math.abs(skewMs - Number(before.value)) > stepMs;
    const value = isSet ? String(skewMs) : before.value;
    if (!isSkewHeard) noteLeap(findLeapInAbsence(before, { value, fromMs: nowMs, throughMs: nowMs }));
    isSkewHeard = true;
    put(skew, noteReading(timelineOf(timelines, skew), value, nowMs));
  }

  return {
    clocks,
    hear: (info) => {
      noteLeap(clocks.noteOwn());
      if (info?.timestampMs === undefined) return;
      noteLeap(clocks.note(info.server.serverUUID ?? '', info.timestampMs));
      noteSkew();
    },
    restore: (kept) => {
      const before = timelineOf(kept, sourceKeys.skew).at(-1);
      noteLeap(findLeapInAbsence(before, timelineOf(timelines, sourceKeys.skew)[0]));
    },
  };
}

type ClockNotes = {
  readonly clocks: Clocks;
  /** Hears every answer, and of system info what it is. */
  readonly hear: (info: SystemInfo | undefined) => void;
  readonly restore: (kept: Sources) => void;
};

/** The clock of the server, or ours, may have been set while nobody was looking: it cannot be told when. */
function findLeapInAbsence(before: Span | undefined, after: Span | undefined): Leap | undefined {
  if (before === undefined || after === undefined) return undefined;
  const isAhead = Number(after.value) - Number(before.value) > stepMs;
  return isAhead ? { fromMs: before.throughMs, throughMs: after.fromMs } : undefined;
}

const mostLeaps = 100;
