import { dayMs, hourMs, minuteMs } from '../support/durations.ts';
import type { CardName } from './cards.ts';
import { createDice } from './dice.ts';
import { type Plan, planWorld } from './plan.ts';

const deck: readonly [CardName, ...CardName[]] = [
  'kill',
  'stop',
  'absence',
  'hold',
  'upgrade',
  'reload',
  'full disk',
  'nobody counts',
  'fewer series',
  'refuse',
  'silence',
  'unavailable',
  'some fail',
  'broken running list',
  'restart of the service',
  'disable',
  'hide',
  'hide job',
  'hide job',
  'exclude project',
  'exclude job',
  'passive',
  'passive',
  'new project',
  'delete project',
  'rename job',
  'delete job',
  'new database',
  'import',
  'flood',
  'retention',
  'totals lie',
  'small pages',
  'late ends',
  'long runs',
  'server clock ahead',
  'server clock behind',
  'own clock ahead',
  'own clock behind',
];

/** Plans days of a small installation with one poll an hour, for recounts and pruning. */
export function planDays(seed: number, days: number, isCalm = false): Plan {
  const dice = createDice(`days ${seed}`);
  const lengthMs = days * dayMs;
  const cards = Array.from({ length: isCalm ? 0 : dice.between(2, 8) }, () => {
    const card = dice.pick(deck);
    const atMs = Math.floor(3 * hourMs + dice.next() * (lengthMs - 33 * hourMs));
    // Problems end a day before the world, because recounts need a day.
    const mostMs = lengthMs - 28 * hourMs - atMs;
    return { card, atMs, forMs: Math.min(mostMs, dice.pick([5, 40, 3 * 60, 11 * 60, 30 * 60, 70 * 60]) * minuteMs) };
  });
  return {
    ...planWorld(seed, [], 'hours'),
    size: 'days',
    lengthMs,
    projects: 2,
    gapMs: 2 * hourMs,
    scrapeMs: 2 * hourMs,
    executionsEveryMs: hourMs,
    listsEveryMs: 2 * hourMs,
    maxDelayMs: 2 * hourMs,
    catchUpLimitMs: dice.pick([168, 168, 48]) * hourMs,
    ...(dice.chance(0.5) ? { keptMs: dice.pick([2, 4, 8]) * dayMs } : {}),
    holdMs: 0,
    traces: 'off',
    cards: cards.toSorted((one, other) => one.atMs - other.atMs),
  };
}
