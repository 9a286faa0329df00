import type { SystemInfo } from '../api/endpoints/system.ts';
import type { Clock } from '../domain/clock.ts';
import { stepMs } from '../domain/time.ts';
import { type ClockStep, noteStep } from './deciding/leaps.ts';
import { sourceKeys, timelineOf } from './deciding/sources.ts';
import { noteReading, type Span, type Timeline } from './deciding/timeline.ts';

/** Tracks the clocks of all members. Ticks measure elapsed time, because the exporter's clock may be set. */
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
    /** Records the time of a member. Returns the step if the clock of the member was set since its last recorded time. */
    note: (uuid: string, toldMs: number): ClockStep | undefined => {
      forgetSilent();
      const aheadMs = toldMs - clock.ticks();
      const before = told.get(uuid);
      first ??= uuid;
      if (told.size < maxMembers || before !== undefined) told.set(uuid, { aheadMs, ticks: clock.ticks() });
      return before && toStep(before, { aheadMs, ticks: clock.ticks() });
    },
    /** Records a response without a server time. Without a server time, the exporter's clock is used, which may also be set. */
    noteOwn: (): ClockStep | undefined => {
      const before = own;
      own = readOwn();
      return first === undefined ? toStep(before, own) : undefined;
    },
    /**
     * Returns the time of the member that reported first, until this member stops reporting; without a member, the exporter's
     * time.
     */
    nowMs: (): number => {
      const known = ofMember(first);
      return Math.floor(known === undefined ? clock.now() : clock.ticks() + known.aheadMs);
    },
    /** Returns how far the clock of a member is ahead of the server time; 0 if unknown. */
    aheadMs: (uuid: string | undefined): number => {
      const [own, common] = [ofMember(uuid), ofMember(first)];
      return own === undefined || common === undefined ? 0 : own.aheadMs - common.aheadMs;
    },
    /** Returns how far the clock of a member may be behind any other clock; the maximum if unknown. */
    behindMs: (uuid: string | undefined): number => {
      const all = [...told.values()].map(({ aheadMs }) => aheadMs);
      if (all.length < 2) return 0;
      return Math.max(...all) - (ofMember(uuid)?.aheadMs ?? Math.min(...all));
    },
  };
}

export type Clocks = ReturnType<typeof createClocks>;

type Told = { readonly aheadMs: number; readonly ticks: number };

/**
 * Returns the span of a step. A forward step is assumed right after the last reading, a backward step right before this
 * reading.
 */
function toStep(before: Told, { aheadMs, ticks }: Told): ClockStep | undefined {
  if (Math.abs(aheadMs - before.aheadMs) <= stepMs) return undefined;
  return { fromMs: (aheadMs > before.aheadMs ? before.ticks : ticks) + before.aheadMs, toMs: ticks + aheadMs };
}

const knownForMs = 86_400_000;
const maxMembers = 100;

/** Records the span that a clock skipped, or by which it was set back. */
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
    const before = timelineOf(timelines, skew).at(-1);
    const after = { value: String(Math.round(nowMs - clock.now())), fromMs: nowMs, throughMs: nowMs };
    const step = findStepInAbsence(before, after);
    if (!isSkewHeard) note(step);
    isSkewHeard = true;
    const { value } = step === undefined ? (before ?? after) : after;
    put(skew, noteReading(timelineOf(timelines, skew), value, nowMs));
  }

  return {
    clocks,
    /** Call with each response, and with its content if it is system information. */
    receive: (info: SystemInfo | undefined): void => {
      note(clocks.noteOwn(), 'own');
      if (info?.timestampMs === undefined) return;
      const uuid = info.server.serverUUID ?? '';
      note(clocks.note(uuid, info.timestampMs), uuid);
      noteSkew();
    },
    /** Compares the clock differences before and after an absence of the exporter. */
    joinAbsence: (before: Span | undefined, after: Span | undefined): void => note(findStepInAbsence(before, after)),
  };
}

/** Returns the step during an absence. Either clock may have been set, at an unknown time. */
function findStepInAbsence(before: Span | undefined, after: Span | undefined): ClockStep | undefined {
  if (before === undefined || after === undefined) return undefined;
  const aheadMs = Number(after.value) - Number(before.value);
  if (Math.abs(aheadMs) <= stepMs) return undefined;
  return { fromMs: aheadMs > 0 ? before.throughMs : after.fromMs - aheadMs, toMs: after.fromMs };
}
