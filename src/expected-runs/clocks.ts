import type { Clock } from '../domain/clock.ts';
import type { Span } from './deciding/timeline.ts';

/** Times that no clock showed, because it was set ahead over them. */
export type Leap = Omit<Span, 'value'>;

export type Clocks = {
  /** Notes the time that a member told; returns the times over which its clock was set ahead after it had told another. */
  readonly note: (uuid: string, toldMs: number) => Leap | undefined;
  /** Notes that an answer came: where no member tells its time, our own clock is all there is, and it may be set ahead. */
  readonly noteOwn: () => Leap | undefined;
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
      if (told.size < mostMembers || before !== undefined) told.set(uuid, { aheadMs, ticks: clock.ticks() });
      if (before === undefined || aheadMs - before.aheadMs <= stepMs) return undefined;
      // It was set at some moment after it had been read.
      return { fromMs: before.ticks + before.aheadMs, throughMs: toldMs };
    },
    noteOwn: () => {
      const before = own;
      own = readOwn();
      if (first !== undefined || own.aheadMs - before.aheadMs <= stepMs) return undefined;
      return { fromMs: before.ticks + before.aheadMs, throughMs: own.ticks + own.aheadMs };
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

/** Larger than the duration of an answer, and than rounding to whole seconds. */
export const stepMs = 30_000;
const knownForMs = 86_400_000;
const mostMembers = 100;
