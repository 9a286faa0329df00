import { nextCronTime } from '../../simulator/engine/schedule.ts';
import { hourMs, minuteMs } from '../support/durations.ts';
import type { Dice } from '../world/dice.ts';

/** The rule by which a schedule starts its job; `everyMs` is the shortest time between two starts. */
export type Rule = { readonly everyMs: number } & (
  | { readonly offsetMs: number }
  | { readonly cron: string; readonly zone: string }
);

/** The first midnights of days: before a weekend, a month, a year, and clock changes. */
export const origins = [
  Date.UTC(2026, 0, 16),
  Date.UTC(2026, 1, 1),
  Date.UTC(2026, 0, 1),
  Date.UTC(2026, 2, 29),
  Date.UTC(2026, 9, 25),
  Date.UTC(2026, 10, 18),
] as const;

type Quiet = { readonly everyMs: number; readonly cron: string; readonly edited: string };

/**
 * Schedules with hours, days or months without starts, each with a possible edit. Scheduled times differ from the times of
 * readings.
 */
const quiet: readonly [Quiet, ...Quiet[]] = [
  { everyMs: 5 * minuteMs, cron: '7 */5 8-17 * * 1-5', edited: '7 */10 9-16 * * 1-5' },
  { everyMs: hourMs, cron: '7 0 1-5 * * *', edited: '7 20 2-7 * * *' },
  { everyMs: 30 * minuteMs, cron: '7 */30 1-4 * * *', edited: '7 15,45 1-4 * * *' },
  { everyMs: 20 * minuteMs, cron: '7 */20 * * * 0,6', edited: '7 10,30,50 * * * 1-5' },
  { everyMs: hourMs, cron: '7 30 2 * * *', edited: '7 30 3 * * *' },
  { everyMs: hourMs, cron: '7 30 2 1 * *', edited: '7 30 9 1,16,18 * *' },
  { everyMs: hourMs, cron: '7 0 5 1 1 *', edited: '7 0 7 * * *' },
];

export function toQuietRules(dice: Dice): { readonly rule: Rule; readonly edited: Rule } {
  const { everyMs, cron, edited } = dice.pick(quiet);
  const zone = dice.pick(['UTC', 'Europe/Berlin']);
  return { rule: { everyMs, cron, zone }, edited: { everyMs, cron: edited, zone } };
}

/** Returns the scheduled times in a window without its start. The day begins at midnight. */
export function timesWithin(rule: Rule, originMs: number, { fromMs, toMs }: Window): number[] {
  if ('cron' in rule) {
    const known = extend(rule, originMs, (lastMs) => lastMs <= toMs);
    return known.filter((time) => time > fromMs && time <= toMs);
  }
  const { everyMs, offsetMs } = rule;
  const times: number[] = [];
  const firstMs = (Math.floor((fromMs - offsetMs) / everyMs) + 1) * everyMs + offsetMs;
  for (let time = firstMs; time <= toMs; time += everyMs) times.push(time);
  return times;
}

type Window = { readonly fromMs: number; readonly toMs: number };

export function timeAfter(rule: Rule, originMs: number, atMs: number): number {
  if (!('cron' in rule)) return timesWithin(rule, originMs, { fromMs: atMs, toMs: atMs + rule.everyMs })[0] ?? atMs;
  const known = extend(rule, originMs, (lastMs) => lastMs <= atMs);
  return known.find((time) => time > atMs) ?? Number.POSITIVE_INFINITY;
}

const knownTimes = new Map<string, number[]>();

function extend(
  rule: { readonly cron: string; readonly zone: string },
  originMs: number,
  isShort: (lastMs: number) => boolean,
): readonly number[] {
  const key = `${originMs} ${rule.zone} ${rule.cron}`;
  const times = knownTimes.get(key) ?? [];
  knownTimes.set(key, times);
  // Requests about the past include times before the day.
  const beginMs = -2 * 24 * hourMs;
  while (isShort(times.at(-1) ?? beginMs))
    times.push(nextCronTime(rule, originMs + (times.at(-1) ?? beginMs)) - originMs);
  return times;
}
