import { renewEveryMs } from '../../../src/ownership/tenure.ts';
import { createDice, type Dice } from '../dice.ts';
import type { Scene } from '../scene.ts';
import type { Engine } from './engine.ts';
import type { Process } from './process.ts';
import { learnsMs, type Watch } from './watch.ts';

const cardNames = [
  'kill',
  'stop',
  'pause',
  'pause inside',
  'reload',
  'cut',
  'lost answer',
  'lost write',
  'away',
  'lost tail',
  'deleted lease',
] as const;

export type ReplicaCard = {
  readonly card: (typeof cardNames)[number];
  readonly atMs: number;
  readonly forMs: number;
  /** The daemon that the card affects: the owner, or the daemon with a number. */
  readonly whom: number | 'owner';
};

export const unitName = 'upstream';

const secondMs = 1000;
const minuteMs = 60_000;
/** The time after which a request that waits is repeated. */
const givesUpMs = 6 * secondMs;
export const daemons = 3;

export function drawCards(seed: number, lengthMs: number): ReplicaCard[] {
  const dice = createDice(`replicas ${seed}`);
  const count = dice.between(2, 5);
  const cards = Array.from({ length: count }, (): ReplicaCard => {
    const card = dice.pick(cardNames);
    const atMs = 70 * secondMs + dice.next() * (lengthMs - 2 * minuteMs);
    const forMs = dice.pick([2, 5, 8, 15, 30, 60]) * secondMs * (0.7 + 0.6 * dice.next());
    return { card, atMs, forMs, whom: dice.chance(0.7) ? 'owner' : dice.between(0, daemons - 1) };
  });
  return cards.sort((one, other) => one.atMs - other.atMs);
}

type Slots = ReturnType<typeof createSlots>;

/** The daemons; each daemon is a sequence of processes. */
export function createSlots(count: number, start: (slot: number, generation: number) => Process) {
  const processes: (Process | undefined)[] = Array.from({ length: count }, () => undefined);
  const generations: number[] = Array.from({ length: count }, () => 0);
  function startOne(slot: number): void {
    const generation = (generations[slot] ?? 0) + 1;
    generations[slot] = generation;
    processes[slot] = start(slot, generation);
  }
  return {
    startAll: (): void => {
      for (let slot = 0; slot < count; slot += 1) startOne(slot);
    },
    startOne,
    alive: (): Process[] => processes.flatMap((process) => process ?? []),
    at: (slot: number): Process | undefined => processes[slot],
    slotOf: (process: Process): number => processes.indexOf(process),
    empty: (slot: number): void => {
      processes[slot] = undefined;
    },
  };
}

type Played = {
  readonly scene: Scene;
  readonly slots: Slots;
  readonly engine: Engine;
  readonly watch: Watch;
  readonly dice: Dice;
};

export function playCard({ card, forMs, whom }: ReplicaCard, { scene, slots, engine, watch, dice }: Played): void {
  const { time, truth, note } = scene;
  const process =
    whom === 'owner' ? slots.alive().find(({ replica }) => replica.toOwned().has(unitName)) : slots.at(whom);
  note(`card ${card} ${process?.name ?? ''} ${Math.round(forMs)}`);
  // The next owner may repeat a request that was in progress.
  const trouble = { what: 'daemon' as const, fromMs: time.nowMs(), toMs: time.nowMs() + forMs + minuteMs };
  truth.troubles.push(trouble);
  const noteSpan = (sinceMs: number, lastsMs: number): void => {
    for (let fromMs = sinceMs; fromMs < sinceMs + lastsMs + 10 * secondMs; fromMs += 10 * secondMs)
      truth.troubles.push({ ...trouble, fromMs, toMs: fromMs + forMs + minuteMs });
  };
  function noteLost(): void {
    watch.noteLost();
    time.after(learnsMs + 1, () => watch.look(slots.alive()));
  }
  if (card === 'away') {
    engine.isAway = true;
    watch.noteUnreached(forMs + givesUpMs);
    time.after(forMs, () => {
      engine.isAway = false;
    });
    return;
  }
  if (card === 'lost tail') {
    engine.copy();
    time.after(200 + 10_000 * dice.next() * dice.next(), () => {
      note('the tail is lost');
      // Records of deliveries and reads are lost too.
      truth.troubles.push({ ...trouble, what: 'restored', fromMs: time.nowMs() });
      const before = engine.unit(unitName).lease;
      engine.loseTail();
      // The lease is lost, or expires because renewals are lost.
      const { lease } = engine.unit(unitName);
      const leftMs = (lease?.expiresMs ?? 0) - time.nowMs() - engine.skewMs;
      if (lease?.epoch !== before?.epoch || leftMs < renewEveryMs) noteLost();
    });
    return;
  }
  if (card === 'deleted lease') {
    noteLost();
    engine.unit(unitName).lease = undefined;
    return;
  }
  if (process === undefined) return;
  const slot = slots.slotOf(process);
  if (card === 'reload') {
    void process.reload();
    return;
  }
  if (card === 'cut' || card === 'lost answer' || card === 'lost write') {
    const cut = (): void => {
      process.link.onCommitted = undefined;
      process.link.onWrite = undefined;
      // The owner continues to send until its lease expires.
      noteSpan(time.nowMs(), 10 * secondMs);
      process.link.isCut = true;
      watch.noteUnreached(forMs + givesUpMs);
      time.after(forMs, () => {
        process.link.isCut = false;
      });
    };
    if (card === 'lost answer') process.link.onCommitted = cut;
    else if (card === 'lost write') process.link.onWrite = cut;
    else cut();
  } else if (card === 'pause' || card === 'pause inside') {
    const pause = (): void => {
      process.link.onWrite = undefined;
      // After the pause, the process repeats requests that the next owner has sent meanwhile.
      noteSpan(time.nowMs(), forMs);
      process.pause();
      watch.noteUnreached(forMs + secondMs);
      time.after(forMs, () => {
        process.resume();
        // A waiting scrape gets its response before any timer runs.
        if (slots.at(slot) === process) watch.look(slots.alive());
      });
    };
    // The process is stopped while it writes.
    if (card === 'pause inside') process.link.onWrite = pause;
    else pause();
  } else if (card === 'kill') {
    process.kill();
    slots.empty(slot);
    time.after(forMs, () => slots.startOne(slot));
  } else if (!process.isPaused()) {
    void process.replica.stop().then(() => {
      if (slots.at(slot) !== process) return;
      note(`${process.name} stopped`);
      process.kill();
      slots.empty(slot);
      time.after(forMs, () => slots.startOne(slot));
    });
  }
}
