import { allCards, type CardName } from './cards.ts';
import { withFurther } from './further.ts';
import type { Options } from './options.ts';
import { type Plan, type PlayedCard, planWorld } from './plan.ts';
import { planDays } from './plan-days.ts';

/** Draws the plan of a seed, and applies the options of the command line. */
export function drawPlan(options: Options, seed = Number(options.get('seed'))): Plan {
  const days = options.get('days');
  const isCalm = options.has('calm');
  const drawn = days === undefined ? planWorld(seed, isCalm ? [] : allCards) : planDays(seed, Number(days), isCalm);
  return change(options.has('further') ? withFurther(drawn) : drawn, options);
}

/** Replaces values of the plan with the values of the command line. */
export function change(plan: Plan, options: Options): Plan {
  const cards = options.get('cards');
  const release = options.get('release');
  const kept = options.get('kept');
  return {
    ...plan,
    lengthMs: Number(options.get('length') ?? plan.lengthMs),
    requestsPerSecond: Number(options.get('budget') ?? plan.requestsPerSecond),
    projects: Number(options.get('projects') ?? plan.projects),
    members: Number(options.get('members') ?? plan.members),
    ...(release === undefined ? {} : { release }),
    ...(kept === undefined ? {} : { keptMs: Number(kept) }),
    // This cast is safe: this command printed the options.
    traces: (options.get('traces') ?? plan.traces) as Plan['traces'],
    ...(cards === undefined ? {} : { cards: cards === '' ? [] : cards.split(',').map(toCard) }),
  };
}

function toCard(text: string): PlayedCard {
  const [, card = '', atMs = '0', forMs = '0'] = /^(.+)@(\d+)\+(\d+)$/.exec(text) ?? [];
  // This cast is safe: this command printed the options.
  return { card: card.replaceAll('_', ' ') as CardName, atMs: Number(atMs), forMs: Number(forMs) };
}
