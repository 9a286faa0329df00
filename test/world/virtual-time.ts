import type { Cancel, Clock } from '../../src/domain/clock.ts';
import type { Dice } from './dice.ts';

/** True time, and all future events. */
export type VirtualTime = ReturnType<typeof createVirtualTime>;

type Entry = { readonly atMs: number; readonly order: number; run: (() => void) | undefined };

export function createVirtualTime(startMs: number) {
  const heap: Entry[] = [];
  const held = new Set<Promise<unknown>>();
  let nowMs = startMs;
  let order = 0;
  let events = 0;

  function at(atMs: number, run: () => void): Cancel {
    // An event at NaN would block later events.
    if (Number.isNaN(atMs)) throw new RangeError('a time has to be a number');
    order += 1;
    const entry: Entry = { atMs: Math.max(nowMs, atMs), order, run };
    push(heap, entry);
    return () => {
      entry.run = undefined;
    };
  }

  async function settle(): Promise<void> {
    await nextLoopTurn();
    while (held.size > 0) {
      await Promise.all(held);
      await nextLoopTurn();
    }
  }

  return {
    nowMs: () => nowMs,
    /** Schedules an event for this time, at the earliest now. */
    at,
    after: (ms: number, run: () => void) => at(nowMs + ms, run),
    /** Plays all events up to a time, in their order. */
    run: async (untilMs: number) => {
      await settle();
      for (let first = heap[0]; first !== undefined && first.atMs <= untilMs; first = heap[0]) {
        pop(heap);
        const { run } = first;
        if (run === undefined) continue;
        nowMs = first.atMs;
        events += 1;
        run();
        await settle();
      }
      nowMs = untilMs;
    },
    events: () => events,
    /** Delays the next event until other work is done. */
    hold: (work: Promise<unknown>) => {
      held.add(work);
      const over = (): void => void held.delete(work);
      work.then(over, over);
    },
  };
}

export type Hands = {
  /** The difference between the wall clock and true time. */
  wallOffsetMs: number;
  /** The fraction by which the clock is too fast. */
  readonly drift: number;
};

/** The clock of a daemon that starts now. */
export function createDaemonClock(time: VirtualTime, hands: Hands, dice: Dice) {
  const bootMs = time.nowMs() - dice.next() * 1_000_000;
  const rate = 1 + hands.drift;
  let isKilled = false;
  let stoppedUntilMs = Number.NEGATIVE_INFINITY;
  let stoppedMs = 0;

  /** Runs work of the process, as long as the process runs. */
  function run(work: () => void): void {
    if (isKilled) return;
    if (time.nowMs() < stoppedUntilMs) time.at(stoppedUntilMs, () => run(work));
    else work();
  }

  function after(ms: number, work: () => void): Cancel {
    if (Number.isNaN(ms)) throw new RangeError('a timer has to have a time');
    // Delays are as in Node: whole milliseconds, at least one; a timer whose delay does not fit into 32 bits fires immediately.
    const wholeMs = ms >= 1 && ms <= 2 ** 31 - 1 ? Math.trunc(ms) : 1;
    let isCancelled = false;
    const cancel = time.after((wholeMs + dice.next()) / rate, () =>
      run(() => {
        if (!isCancelled) work();
      }),
    );
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  const clock: Clock = {
    now: () => Math.floor(time.nowMs() + hands.wallOffsetMs),
    ticks: () => (time.nowMs() - bootMs) * rate,
    awakeTicks: () => (time.nowMs() - bootMs - stoppedMs) * rate,
    after,
    nextTurn: () =>
      new Promise((resolve) => {
        time.after(dice.next() * 0.05, () => run(resolve));
      }),
    random: dice.next,
  };
  return {
    clock,
    run,
    isKilled: () => isKilled,
    isStopped: () => time.nowMs() < stoppedUntilMs,
    /** Stops the process for a while, as SIGSTOP does; its clocks continue. */
    stop: (forMs: number): void => {
      stoppedUntilMs = time.nowMs() + forMs;
      stoppedMs += forMs;
    },
    kill: (): void => {
      isKilled = true;
    },
  };
}

export type DaemonClock = ReturnType<typeof createDaemonClock>;

/** Resolves in the next turn of the event loop. */
function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(entry, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    let below = heap[child];
    if (below === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, below)) {
      child += 1;
      below = right;
    }
    if (!isBefore(below, last)) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}
