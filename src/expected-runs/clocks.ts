import type { Clock } from '../domain/clock.ts';
import { type ClockStep, stepMs } from './deciding/leaps.ts';

export type Clocks = {
  /** Notes the time that a member told; returns by what its clock was set after it had told another. */
  readonly note: (uuid: string, toldMs: number) => ClockStep | undefined;
  /** Notes that an answer came: where no member tells its time, our own clock is all there is, and it may be set. */
  readonly noteOwn: () => ClockStep | undefined;
  /** The server's time: that of the first member which told one, as long as it does. */
  readonly nowMs: () => number;
  /** How far the clock of a member is ahead of the server's time; 0 of one that is not known. */
  readonly aheadMs: (uuid: string | undefined) => number;
  /** How far the clock of a member may be behind any other; of one that is not known the most. */
  readonly behindMs: (uuid: string | undefined) => number;
};

/** Follows the clocks of all members of a server. Our own clock may be set meanwhile: between readings only ticks count. */
export function createClocks(clock: Pick<Clock, 'now' | 'ticks'>): Clocks {
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
    note: (uuid, toldMs) => {
      forgetSilent();
      const aheadMs = toldMs - clock.ticks();
      const before = told.get(uuid);
      first ??= uuid;
      if (told.size < maxMembers || before !== undefined) told.set(uuid, { aheadMs, ticks: clock.ticks() });
      return before && toStep(before, { aheadMs, ticks: clock.ticks() });
    },
    noteOwn: () => {
      const before = own;
      own = readOwn();
      return first === undefined ? toStep(before, own) : undefined;
    },
    nowMs: () => {
      const known = ofMember(first);
      return Math.floor(known === undefined ? clock.now() : clock.ticks() + known.aheadMs);
    },
    aheadMs: (uuid) => {
      const [own, common] = [ofMember(uuid), ofMember(first)];
      return own === undefined || common === undefined ? 0 : own.aheadMs - common.aheadMs;
    },
    behindMs: (uuid) => {
      const all = [...told.values()].map(({ aheadMs }) => aheadMs);
      if (all.length < 2) return 0;
      return Math.max(...all) - (ofMember(uuid)?.aheadMs ?? Math.min(...all));
    },
  };
}

/** By how much a clock is ahead of our ticks, and when it was read. */
type Told = { readonly aheadMs: number; readonly ticks: number };

/** It was set at some moment after it had been read: ahead, perhaps at once; back, perhaps only just now. */
function toStep(before: Told, { aheadMs, ticks }: Told): ClockStep | undefined {
  if (Math.abs(aheadMs - before.aheadMs) <= stepMs) return undefined;
  return { fromMs: (aheadMs > before.aheadMs ? before.ticks : ticks) + before.aheadMs, toMs: ticks + aheadMs };
}

const knownForMs = 86_400_000;
const maxMembers = 100;
