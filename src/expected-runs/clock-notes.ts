import type { SystemInfo } from '../api/endpoints/system.ts';
import type { Clock } from '../domain/clock.ts';
import { type Clocks, createClocks } from './clocks.ts';
import { type ClockStep, noteStep, stepMs } from './deciding/leaps.ts';
import { sourceKeys, timelineOf } from './deciding/sources.ts';
import { noteReading, type Span, type Timeline } from './deciding/timeline.ts';

/** Records in the timelines which span a clock skipped, and whether it was set back. */
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

  function note(step: ClockStep | undefined, name?: string): void {
    const { leaps } = sourceKeys;
    if (step !== undefined) put(leaps, noteStep(timelineOf(timelines, leaps), step, name));
  }

  function noteSkew(): void {
    const { skew } = sourceKeys;
    const nowMs = clocks.nowMs();
    const skewMs = Math.round(nowMs - clock.now());
    const before = timelineOf(timelines, skew).at(-1);
    const isSet = before === undefined || Math.abs(skewMs - Number(before.value)) > stepMs;
    const value = isSet ? String(skewMs) : before.value;
    if (!isSkewHeard) note(findStepInAbsence(before, { value, fromMs: nowMs, throughMs: nowMs }));
    isSkewHeard = true;
    put(skew, noteReading(timelineOf(timelines, skew), value, nowMs));
  }

  return {
    clocks,
    hear: (info) => {
      note(clocks.noteOwn(), 'own');
      if (info?.timestampMs === undefined) return;
      const uuid = info.server.serverUUID ?? '';
      note(clocks.note(uuid, info.timestampMs), uuid);
      noteSkew();
    },
    joinAbsence: (before, after) => note(findStepInAbsence(before, after)),
  };
}

type ClockNotes = {
  readonly clocks: Clocks;
  /** Call with each answer; with its content if it is system info. */
  readonly hear: (info: SystemInfo | undefined) => void;
  /** Compares the last difference of the clocks before an absence with the first one after it. */
  readonly joinAbsence: (before: Span | undefined, after: Span | undefined) => void;
};

/** The server clock or the exporter's may have been set during the absence; when is unknown. */
function findStepInAbsence(before: Span | undefined, after: Span | undefined): ClockStep | undefined {
  if (before === undefined || after === undefined) return undefined;
  const aheadMs = Number(after.value) - Number(before.value);
  if (Math.abs(aheadMs) <= stepMs) return undefined;
  return { fromMs: aheadMs > 0 ? before.throughMs : after.fromMs - aheadMs, toMs: after.fromMs };
}
