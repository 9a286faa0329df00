import { simulatedReleases as releases } from '../support/all.ts';
import { minuteMs } from '../support/durations.ts';
import { createDice } from './dice.ts';
import type { Plan, PlayedCard } from './plan.ts';

/**
 * Adds a release, a cleaner, limits of requests and several problems. This is separate, so that earlier seeds keep their worlds.
 */
export function withFurther(plan: Plan): Plan {
  const dice = createDice(`further ${plan.seed}`);
  const keptMs = plan.keptMs ?? plan.maxDelayMs + dice.between(8, 20) * minuteMs;
  const own = createDice(`requests ${plan.seed}`);
  const further = {
    ...plan,
    release: releases[plan.seed % releases.length] ?? releases[0],
    keptMs,
    // Fewer simultaneous requests would take too long.
    concurrency: plan.projects > 100 ? 4 : own.pick([4, 4, 1, 2, 10]),
    traces: plan.requestsPerSecond < 1 && plan.traces === 'off' ? own.pick(['off', 'root'] as const) : plan.traces,
  };
  if (plan.size !== 'small' || plan.projects > 100 || !dice.chance(0.5)) return further;
  const atMs = Math.floor(1.5 * minuteMs + dice.next() * (plan.lengthMs - 2.5 * minuteMs));
  const at = (card: PlayedCard['card'], afterMs: number, forMs: number): PlayedCard => ({
    card,
    atMs: atMs + Math.floor(afterMs),
    forMs,
  });
  const forMs = dice.pick([45_000, 2 * minuteMs, 6 * minuteMs]);
  const soonMs = dice.next() * 20_000;
  // The clock is set while the daemon is away.
  const stepAway = (card: PlayedCard['card']) => [
    at('absence', 0, dice.pick([20_000, minuteMs, 2 * minuteMs])),
    at(card, soonMs, forMs),
  ];
  const troubles = dice.pick<() => PlayedCard[]>([
    () => stepAway('any server clock'),
    () => stepAway('any member clock'),
    () => stepAway('server clock behind'),
    () => stepAway('own clock behind'),
    () => [at('any server clock', 0, forMs), at('retention', soonMs, 10_000), at('kill', 2 * soonMs, 30_000)],
    () => [at('any server clock', 0, forMs), at('new database', soonMs, 10_000)],
    () => [at('full disk', 0, forMs), at('any server clock', soonMs, forMs), at('stop', 2 * soonMs, 45_000)],
    () => [at('upgrade', 0, 30_000), at('server clock behind', soonMs / 2, forMs)],
  ])();
  const cards = [...plan.cards, ...troubles].toSorted((one, other) => one.atMs - other.atMs);
  const hasMembers = troubles.some(({ card }) => card.startsWith('any ')) && dice.chance(0.5);
  return { ...further, members: hasMembers ? 2 : plan.members, cards };
}
