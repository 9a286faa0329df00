import { readFileSync } from 'node:fs';
import { hourMs, minuteMs } from '../support/durations.ts';
import type { CardName } from './cards.ts';
import { createDice, type Dice } from './dice.ts';

/** One problem, at a time after the start. */
export type PlayedCard = {
  readonly card: CardName;
  readonly atMs: number;
  /** The duration of the problem, for cards that have a duration. */
  readonly forMs: number;
};

type DrawnSize = 'small' | 'long' | 'many projects' | 'flood' | 'hours';
type Size = DrawnSize | 'days';

/** Everything that determines a world: a plan always gives the same world. */
export type Plan = {
  readonly seed: number;
  readonly size: Size;
  readonly projects: number;
  readonly lengthMs: number;
  /** The average time between the ends of two executions in a project. */
  readonly gapMs: number;
  readonly scrapeMs: number;
  readonly executionsEveryMs: number;
  readonly requestsPerSecond: number;
  readonly concurrency?: number;
  readonly timeoutMs: number;
  readonly holdMs: number;
  readonly backfillMs: number;
  readonly maxDelayMs: number;
  readonly catchUpLimitMs: number;
  readonly traces: 'off' | 'root' | 'nodes';
  readonly minMs: number;
  readonly tailShare: number;
  readonly date: 'own' | 'none' | 'proxy';
  /** The total of all executions that the server reports. */
  readonly totals?: 'true' | 'any' | 'none' | 'more';
  readonly skewMs: number;
  /** The release of the server; if absent, the simulator's default. */
  readonly release?: string;
  /** The age at which a cleaner of the server deletes executions; absent without a cleaner. */
  readonly keptMs?: number;
  readonly members: number;
  readonly serverAheadMs: number;
  readonly drift: number;
  readonly state: 'memory' | 'sqlite';
  /** The maximum number of series; absent without a limit. */
  readonly maxSeries?: number;
  readonly cards: readonly PlayedCard[];
  /** The time between one poll and the next. */
  readonly apartMs?: number;
  /** The age after which executions get no trace; absent for the default. */
  readonly maxTraceAgeMs?: number;
  /** The interval at which lists of projects and jobs are read. If set, schedules are watched too. */
  readonly listsEveryMs?: number;
  /** True if all collectors poll at their usual times. */
  readonly isComplete?: boolean;
};

const releases = ['3.4.0', '4.14.0', '5.3.0', '5.20.0', '6.0.0'] as const;

export function planWorld(seed: number, deck: readonly CardName[], size: DrawnSize = toSize(seed)): Plan {
  // Each property has its own random numbers, so that new properties do not change others.
  const of = (name: string): Dice => createDice(`plan ${seed} ${name}`);
  const isLarge = size !== 'small' && size !== 'long';
  const lengthMs = {
    small: of('length').between(4, 11) * minuteMs,
    long: of('length').between(16, 36) * minuteMs,
    'many projects': 15 * minuteMs,
    flood: 20 * minuteMs,
    hours: 8 * hourMs,
  }[size];
  const backfillMs = of('backfill').pick([0, 0, hourMs]);
  const maxDelayMs = of('delay').pick([3, 5, 5, 10]) * minuteMs;
  const plan: Plan = {
    seed,
    size,
    projects: {
      small: of('projects').between(1, 4),
      long: of('projects').between(2, 6),
      'many projects': 200,
      flood: 3,
      hours: 3,
    }[size],
    lengthMs,
    gapMs: {
      small: of('gap').pick([20_000, 40_000, 80_000, 150_000]),
      long: of('gap').pick([40_000, 80_000, 150_000, 300_000]),
      'many projects': 900_000,
      flood: 60_000,
      hours: 900_000,
    }[size],
    scrapeMs: isLarge ? minuteMs : of('scrape').pick([15_000, 15_000, 30_000]),
    executionsEveryMs: isLarge ? minuteMs : of('every').pick([15_000, 20_000, 30_000, 60_000]),
    requestsPerSecond: isLarge ? 10 : of('budget').pick([10, 10, 10, 5, 30, 0.5]),
    timeoutMs: 10_000,
    holdMs: of('hold').pick([60_000, 60_000, 0, 120_000]),
    backfillMs,
    maxDelayMs,
    // The catch-up limit is longer than the backfill, and longer than any project waits until it is read.
    catchUpLimitMs:
      of('catch-up').pick(size === 'small' && backfillMs === 0 ? [168, 0.25, 0.25] : [168, 168, 2]) * hourMs,
    traces: size === 'hours' ? 'root' : isLarge ? 'off' : of('traces').pick(['off', 'root', 'nodes', 'nodes']),
    minMs: of('least').pick([2, 5, 20, 120, 700]),
    tailShare: of('tail').pick([0, 0.01, 0.05]),
    date: of('date').pick(['own', 'own', 'own', 'none', 'proxy']),
    totals: of('totals').pick(['true', 'true', 'true', 'any', 'none', 'more']),
    skewMs: of('skew').pick([0, 0, 0, 1500, -1500, 4000]),
    release: of('release').pick(releases),
    ...(of('cleaner').chance(0.25) ? { keptMs: maxDelayMs + of('kept').between(8, 20) * minuteMs } : {}),
    members: of('members').pick([1, 1, 2]),
    serverAheadMs: of('ahead').pick([0, 0, 37.4, -90_000.25, 600_000.5]),
    drift: of('drift').pick([0, 0, 2e-5, -3e-5]),
    apartMs: of('apart').pick([1000, 4000, 7000]),
    state: size === 'small' && of('state').chance(0.03) ? 'sqlite' : 'memory',
    cards: [...(size === 'flood' ? [floodCard] : []), ...drawCards(of, deck, lengthMs, size)],
  };
  const arranged = withTimes(size === 'small' && deck.length > 0 ? arrange(plan, of) : plan, of, deck);
  // With slow responses, traces would take too long.
  const has = (name: CardName): boolean => arranged.cards.some(({ card }) => card === name);
  const isSlow = arranged.requestsPerSecond < 1 || (arranged.minMs > 500 && has('flood'));
  return isSlow || has('dense and slow') ? { ...arranged, traces: 'off' } : arranged;
}

/** Gives some small worlds a rare combination with its own problem. */
function arrange(plan: Plan, of: (name: string) => Dice): Plan {
  const dice = of('special');
  if (!dice.chance(0.15)) return plan;
  const own = plan.cards.slice(0, 1);
  const at = (card: CardName, minute: number, forMs = 3 * minuteMs): PlayedCard => ({
    card,
    atMs: Math.floor((minute + dice.next()) * minuteMs),
    forMs,
  });
  const newcomers = (): Plan => ({
    ...plan,
    // The distance between polls is short enough that several rounds use the same list of projects.
    apartMs: 7000,
    executionsEveryMs: 30_000,
    gapMs: 150_000,
    requestsPerSecond: 10,
    lengthMs: 8 * minuteMs,
    // The cards come right after each list.
    cards: [
      ...own,
      ...[7, 8, 9, 10, 11, 12, 13].map((half): PlayedCard => {
        return {
          card: 'newcomer',
          atMs: Math.floor((half * minuteMs) / 2 + 500 + dice.next() * 4000),
          forMs: minuteMs,
        };
      }),
    ],
  });
  const longAway = (): Plan => ({
    ...plan,
    requestsPerSecond: 10,
    backfillMs: 0,
    catchUpLimitMs: hourMs / 4,
    lengthMs: 5 * minuteMs,
    cards: [...own, at('long absence', 3)],
  });
  const crowd = (): Plan => ({
    ...plan,
    projects: 120,
    gapMs: 900_000,
    executionsEveryMs: 15_000,
    requestsPerSecond: 10,
    lengthMs: 6 * minuteMs,
    traces: 'off',
    cards: [at('busy everywhere', 2), { ...at('slow', 3), atMs: 3 * minuteMs }],
  });
  const arranged = dice.pick([newcomers, newcomers, longAway, longAway, crowd])();
  return { ...arranged, cards: arranged.cards.toSorted((one, other) => one.atMs - other.atMs) };
}

/** The additional delay if polls are more than a minute apart. */
export function toPaceMs({ executionsEveryMs, listsEveryMs }: Plan): number {
  return listsEveryMs === undefined ? 0 : 2 * executionsEveryMs + listsEveryMs;
}

/** Adds a problem with wrong times to some worlds. */
function withTimes(plan: Plan, of: (name: string) => Dice, deck: readonly CardName[]): Plan {
  const dice = of('times');
  if (deck.length === 0 || !dice.chance(0.2)) return plan;
  const card = dice.pick<CardName>(['any server clock', 'any member clock', 'starts to come', 'starts in 1970']);
  const atMs = Math.floor(1.5 * minuteMs + dice.next() * (plan.lengthMs - 2.5 * minuteMs));
  const forMs = dice.pick(plan.size === 'small' ? [5000, 45_000, 6 * minuteMs] : [5000, 10 * minuteMs, 3 * hourMs]);
  const cards = [...plan.cards, { card, atMs, forMs }].toSorted((one, other) => one.atMs - other.atMs);
  return { ...plan, members: card === 'any member clock' ? 2 : plan.members, cards };
}

/** Most worlds are small and fast; slow effects need larger ones. */
function toSize(seed: number): DrawnSize {
  const dice = createDice(`size ${seed}`);
  if (dice.chance(0.88)) return 'small';
  return dice.chance(0.85) ? 'long' : dice.pick(['many projects', 'flood', 'hours']);
}

const floodCard: PlayedCard = { card: 'flood', atMs: 7 * minuteMs, forMs: minuteMs };

/** Draws a few problems that begin and end within the world. */
function drawCards(
  of: (name: string) => Dice,
  deck: readonly CardName[],
  lengthMs: number,
  size: DrawnSize,
): PlayedCard[] {
  if (deck.length === 0) return [];
  const isSmall = size === 'small';
  const count = isSmall
    ? of('cards').between(1, 5)
    : size === 'long'
      ? of('cards').between(1, 7)
      : of('cards').between(0, 3);
  const firstMs = isSmall ? 1.5 * minuteMs : 3 * minuteMs;
  const lastMs = lengthMs - (isSmall ? 1 : 5) * minuteMs;
  const durations = isSmall ? ([10_000, 45_000, 2 * minuteMs, 4 * minuteMs] as const) : longer;
  const cards = Array.from({ length: count }, (_, index) => {
    const dice = of(`card ${index}`);
    const atMs = Math.floor(firstMs + dice.next() * (lastMs - firstMs));
    return { card: pickCard((card) => of(`card ${index} ${card}`).next(), deck), atMs, forMs: dice.pick(durations) };
  });
  return cards.sort((one, other) => one.atMs - other.atMs);
}

const longer = [10_000, 45_000, 3 * minuteMs, 10 * minuteMs, 20 * minuteMs] as const;

/** Picks a card so that a new card changes few existing plans. */
function pickCard(draw: (card: CardName) => number, deck: readonly CardName[]): CardName {
  const drawn = deck.map((card) => ({ card, value: draw(card) })).sort((one, other) => other.value - one.value);
  const [first] = drawn;
  if (first === undefined) throw new Error('a deck has cards');
  return first.card;
}

/** Reads complete plans, one per line. */
export function readPlans(file: string): Plan[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  // This cast is safe: the lines are printed plans.
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Plan);
}
