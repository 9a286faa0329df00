import type { SystemInfo } from '../api/endpoints/system.ts';
import type { Clock } from '../domain/clock.ts';
import { stepMs } from '../domain/time.ts';
import { type ClockStep, noteStep } from './deciding/leaps.ts';
import { sourceKeys, timelineOf } from './deciding/sources.ts';
import { noteReading, type Span, type Timeline } from './deciding/timeline.ts';

/** Follows the clocks of all members. The exporter's clock may be set too, so ticks measure the elapsed time. */
export function createClocks(clock: Pick<Clock, 'now' | 'ticks'>) {
  const told = new Map<string, Told>();
  let first: string | undefined;
  let own = readOwn();

  const ofMember = (uuid: string | undefined): Told | undefined => (uuid === undefined ? undefined : told.get(uuid));

  function readOwn(): Told {
    return { aheadMs: clock.now() - clock.ticks(), ticks: clock.ticks() };
  }

  function forgetSilent(): void {
    for (const [uuid, { ticks }] of told) if (clock.ticks() - ticks > knownForMs) told.delete(uuid);
    if (first !== undefined && !told.has(first)) first = undefined;
  }

  return {
    /** Records the time of a member; returns the step if its clock was set since its last time. */
    note: (uuid: string, toldMs: number): ClockStep | undefined => {
      forgetSilent();
      const aheadMs = toldMs - clock.ticks();
      const before = told.get(uuid);
      first ??= uuid;
      if (told.size < maxMembers || before !== undefined) told.set(uuid, { aheadMs, ticks: clock.ticks() });
      return before && toStep(before, { aheadMs, ticks: clock.ticks() });
    },
    /** Records an answer. If no member reports its time, the exporter's clock is used, and it may be set. */
    noteOwn: (): ClockStep | undefined => {
      const before = own;
      own = readOwn();
      return first === undefined ? toStep(before, own) : undefined;
    },
    /** The time of the first member that reported one, as long as it continues to report. */
    nowMs: (): number => {
      const known = ofMember(first);
      return Math.floor(known === undefined ? clock.now() : clock.ticks() + known.aheadMs);
    },
    /** Returns by how much the clock of a member is ahead of the server time; 0 if unknown. */
    aheadMs: (uuid: string | undefined): number => {
      const [own, common] = [ofMember(uuid), ofMember(first)];
      return own === undefined || common === undefined ? 0 : own.aheadMs - common.aheadMs;
    },
    /** Returns by how much the clock of a member may be behind any other clock; the maximum if unknown. */
    behindMs: (uuid: string | undefined): number => {
      const all = [...told.values()].map(({ aheadMs }) => aheadMs);
      if (all.length < 2) return 0;
      return Math.max(...all) - (ofMember(uuid)?.aheadMs ?? Math.min(...all));
    },
  };
}

export type Clocks = ReturnType<typeof createClocks>;

type Told = { readonly aheadMs: number; readonly ticks: number };

/** A forward step may have happened right after the last reading, a backward step just before this one. */
function toStep(before: Told, { aheadMs, ticks }: Told): ClockStep | undefined {
  if (Math.abs(aheadMs - before.aheadMs) <= stepMs) return undefined;
  return { fromMs: (aheadMs > before.aheadMs ? before.ticks : ticks) + before.aheadMs, toMs: ticks + aheadMs };
}

const knownForMs = 86_400_000;
const maxMembers = 100;

/** Records in the timelines the span that a clock skipped, and whether it was set back. */
export function createClockNotes(
  clock: Pick<Clock, 'now' | 'ticks'>,
  timelines: Map<string, Timeline>,
  changed: Set<string>,
) {
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
    /** Call with each answer; with its content, if the answer is system info. */
    receive: (info: SystemInfo | undefined): void => {
      note(clocks.noteOwn(), 'own');
      if (info?.timestampMs === undefined) return;
      const uuid = info.server.serverUUID ?? '';
      note(clocks.note(uuid, info.timestampMs), uuid);
      noteSkew();
    },
    /** Compares the last difference of the clocks before an absence with the first one after it. */
    joinAbsence: (before: Span | undefined, after: Span | undefined): void => note(findStepInAbsence(before, after)),
  };
}

/** The server clock or the exporter's clock may have been set during the absence, at an unknown time. */
function findStepInAbsence(before: Span | undefined, after: Span | undefined): ClockStep | undefined {
  if (before === undefined || after === undefined) return undefined;
  const aheadMs = Number(after.value) - Number(before.value);
  if (Math.abs(aheadMs) <= stepMs) return undefined;
  return { fromMs: aheadMs > 0 ? before.throughMs : after.fromMs - aheadMs, toMs: after.fromMs };
}
