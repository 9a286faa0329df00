import { addDuration, type Drift } from '../../../src/domain/durations/drift.ts';

/** Durations in ms as real jobs have them; weekday 0 is Monday. */
export const shapes: Readonly<Record<string, (draw: () => number, weekday: number) => number>> = {
  'narrow lognormal': (draw) => 60_000 * Math.exp(0.25 * toNormal(draw)),
  lognormal: (draw) => 60_000 * Math.exp(0.3 * toNormal(draw)),
  'wide lognormal': (draw) => 60_000 * Math.exp(0.6 * toNormal(draw)),
  'two humps': (draw) => (draw() < 0.7 ? 40_000 : 120_000) * Math.exp(0.15 * toNormal(draw)),
  'heavy tail': (draw) => 30_000 / (1 - draw()) ** (1 / 1.5),
  'whole seconds': (draw) => 1000 * Math.round(20 + 3 * toNormal(draw)),
  weekend: (draw, weekday) => (weekday >= 5 ? 180_000 : 60_000) * Math.exp(0.2 * toNormal(draw)),
};

function toNormal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

/** Draws numbers from 0 to 1 that depend only on the seed. */
export function createDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.trunc(state + 0x6d_2b_79_f5) % 2 ** 32;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Simulation = {
  readonly runs: number;
  /** The number of played changes. */
  readonly tries: number;
  readonly factor: number;
  readonly seed: number;
};

/** Counts false alarms, and the runs until a change is found. */
export function simulate(shape: string, { runs, tries, factor, seed }: Simulation) {
  const draw = createDraw(seed);
  const next = (index: number): number => shapes[shape]?.(draw, Math.floor(index / 4) % 7) ?? 0;
  const add = (drift: Drift | undefined, index: number, by = 1): Drift =>
    addDuration(drift, by * next(index), mondayMs + index * everyMs);
  let falseAlarms = 0;
  let drift: Drift | undefined;
  for (let index = 0; index < runs; index += 1) {
    const before = drift?.shift;
    drift = add(drift, index);
    if (before === undefined && drift.shift !== undefined) falseAlarms += 1;
  }
  const delays = Array.from({ length: tries }, () => {
    let changed: Drift | undefined;
    for (let index = 0; index < historyRuns; index += 1) changed = add(changed, index);
    if (changed?.shift !== undefined) return 0;
    let index = historyRuns;
    for (; changed?.shift === undefined && index < historyRuns + maxDelay; index += 1)
      changed = add(changed, index, factor);
    return index - historyRuns;
  });
  return { falseAlarms, delays: delays.toSorted((one, other) => one - other) };
}

const mondayMs = Date.UTC(2026, 0, 5);
const everyMs = 6 * 3_600_000;
const historyRuns = 200;
const maxDelay = 200;
