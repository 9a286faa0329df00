import type { CardName } from './cards.ts';
import { createDice, type Dice } from './dice.ts';

/** One trouble at a time after the start. */
export type PlayedCard = {
  readonly card: CardName;
  readonly atMs: number;
  /** How long it lasts, where it lasts. */
  readonly forMs: number;
};

export type Size = 'small' | 'many projects' | 'flood' | 'day';

/** All that a world is made of; the same plan is the same world. */
export type Plan = {
  readonly seed: number;
  readonly size: Size;
  readonly projects: number;
  readonly lengthMs: number;
  /** Between two ends of one project, on average. */
  readonly gapMs: number;
  readonly scrapeMs: number;
  readonly executionsEveryMs: number;
  readonly requestsPerSecond: number;
  readonly timeoutMs: number;
  readonly holdMs: number;
  readonly backfillMs: number;
  readonly maxDelayMs: number;
  readonly catchUpLimitMs: number;
  readonly traces: 'off' | 'root' | 'nodes';
  readonly leastMs: number;
  readonly tailShare: number;
  readonly date: 'own' | 'none' | 'proxy';
  readonly skewMs: number;
  readonly members: number;
  readonly serverAheadMs: number;
  readonly drift: number;
  readonly state: 'memory' | 'sqlite';
  readonly cards: readonly PlayedCard[];
  /** Every collector at its usual times, those too that are off by default. */
  readonly isComplete?: boolean;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** What a seed stands for. */
export function planWorld(seed: number, deck: readonly CardName[]): Plan {
  const dice = createDice(`plan ${seed}`);
  const size = toSize(seed, dice);
  const lengthMs = {
    small: dice.between(16, 36) * minuteMs,
    'many projects': 30 * minuteMs,
    flood: 40 * minuteMs,
    day: 24 * hourMs,
  }[size];
  const plan: Plan = {
    seed,
    size,
    projects: { small: dice.between(2, 6), 'many projects': 200, flood: 3, day: 6 }[size],
    lengthMs,
    gapMs: {
      small: dice.pick([40_000, 80_000, 150_000, 300_000]),
      'many projects': 900_000,
      flood: 60_000,
      day: 600_000,
    }[size],
    scrapeMs: size === 'small' ? dice.pick([15_000, 15_000, 30_000]) : 60_000,
    executionsEveryMs: dice.pick([15_000, 20_000, 30_000, 60_000]),
    requestsPerSecond: dice.pick([10, 10, 10, 5, 30]),
    timeoutMs: 10_000,
    holdMs: dice.pick([60_000, 60_000, 0, 120_000]),
    backfillMs: dice.pick([0, 0, hourMs]),
    maxDelayMs: dice.pick([3, 5, 5, 10]) * minuteMs,
    catchUpLimitMs: dice.pick([168, 168, 2]) * hourMs,
    traces: size === 'small' ? dice.pick(['off', 'root', 'nodes', 'nodes']) : size === 'day' ? 'root' : 'off',
    leastMs: dice.pick([2, 5, 20, 120, 700]),
    tailShare: dice.pick([0, 0.01, 0.05]),
    date: dice.pick(['own', 'own', 'own', 'none', 'proxy']),
    skewMs: dice.pick([0, 0, 0, 1500, -1500, 4000]),
    members: dice.pick([1, 1, 2]),
    serverAheadMs: dice.pick([0, 0, 37.4, -90_000.25, 600_000.5]),
    drift: dice.pick([0, 0, 2e-5, -3e-5]),
    state: dice.chance(0.04) ? 'sqlite' : 'memory',
    cards: [...(size === 'flood' ? [floodCard] : []), ...drawCards(dice, deck, lengthMs, size)],
  };
  // One question after the other takes its time where each takes most of a second.
  return plan.leastMs > 500 && plan.cards.some(({ card }) => card === 'flood') ? { ...plan, traces: 'off' } : plan;
}

function toSize(seed: number, dice: Dice): Size {
  return seed % 10 === 0 ? dice.pick(['many projects', 'flood', 'day']) : 'small';
}

const floodCard: PlayedCard = { card: 'flood', atMs: 7 * minuteMs, forMs: minuteMs };

/** A few troubles, the first once counting has begun, and time for the last to be over. */
function drawCards(dice: Dice, deck: readonly CardName[], lengthMs: number, size: Size): PlayedCard[] {
  const [first, ...others] = deck;
  if (first === undefined) return [];
  const count = size === 'small' ? dice.between(1, 7) : dice.between(0, 4);
  const cards = Array.from({ length: count }, () => ({
    card: dice.pick([first, ...others]),
    atMs: 3 * minuteMs + Math.floor(dice.next() * (lengthMs - 8 * minuteMs)),
    forMs: dice.pick([10_000, 45_000, 3 * minuteMs, 10 * minuteMs, 20 * minuteMs]),
  }));
  return cards.sort((one, other) => one.atMs - other.atMs);
}

/** The configuration file of its daemon. */
export function toYaml(plan: Plan, { exclude = [] as readonly string[] } = {}): string {
  const on = ['system-info', 'projects', 'project-jobs', 'executions'];
  const off = [
    'execution-mode',
    'healthcheck',
    'ping',
    'log-storage',
    'app-metrics',
    'project-modes',
    'threads',
    'project-nodes',
  ];
  const more = ['log-storage-incomplete', 'job-info', 'tokens', 'users', 'acl-policies', 'stored-keys', 'cluster-jobs'];
  const others = [...off, ...more, 'execution-metrics', 'user-classes'];
  const all = [...on, ...others].map((name) => `  ${name}: { enabled: true }`);
  const few = [
    ...on.map((name) =>
      name === 'executions'
        ? `  executions: { every: ${plan.executionsEveryMs / 1000}s, max_series: 1000000 }`
        : `  ${name}: { enabled: true, every: ${name === 'project-jobs' ? '10m' : '30s'} }`,
    ),
    ...others.map((name) => `  ${name}: { enabled: false }`),
  ];
  return [
    'servers:',
    '  - name: upstream',
    '    url: http://service',
    '    token_file: token',
    `    timeout: ${plan.timeoutMs}ms`,
    '    namespace: http://service',
    `    budget: { requests_per_second: ${plan.requestsPerSecond}, concurrency: 4 }`,
    ...(exclude.length > 0 ? [`    projects: { exclude: [${exclude.map((name) => `'${name}'`).join(', ')}] }`] : []),
    'executions:',
    `  backfill: ${plan.backfillMs / 1000}s`,
    `  max_delay: ${plan.maxDelayMs / 1000}s`,
    `  catch_up_limit: ${plan.catchUpLimitMs / 1000}s`,
    'metrics:',
    `  hold_new_series: ${plan.holdMs / 1000}s`,
    // Few, since each is a line of every scrape.
    '  automation_execution_duration_seconds: { buckets: [5, 60] }',
    'traces:',
    `  enabled: ${plan.traces === 'off' ? 'off' : 'on'}`,
    ...(plan.traces === 'root' ? ['  detail: root'] : []),
    'collectors:',
    ...(plan.isComplete === true ? all : few),
    '',
  ].join('\n');
}
