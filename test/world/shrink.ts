import type { Plan } from './plan.ts';
import { playWorld, type Report } from './play.ts';

/** Returns a smaller plan that fails in the same way. */
export async function shrink(report: Report, maxPlays = 24): Promise<Report> {
  let smallest = report;
  let plays = 0;
  const oracle = report.faults[0]?.oracle;

  async function keepIfSame(plan: Plan): Promise<boolean> {
    if (plays >= maxPlays) return false;
    plays += 1;
    const tried = await playWorld(plan);
    if (!tried.faults.some((fault) => fault.oracle === oracle)) return false;
    smallest = tried;
    return true;
  }

  for (let index = report.plan.cards.length - 1; index >= 0; index -= 1) {
    const { plan } = smallest;
    await keepIfSame({ ...plan, cards: plan.cards.filter((card) => card !== report.plan.cards[index]) });
  }
  for (const share of [0.4, 0.6, 0.8]) {
    const { plan } = smallest;
    const lengthMs = Math.floor(plan.lengthMs * share);
    if (await keepIfSame({ ...plan, lengthMs, cards: plan.cards.filter(({ atMs }) => atMs < lengthMs) })) break;
  }
  for (const projects of [1, 2, 4]) {
    if (projects < smallest.plan.projects && (await keepIfSame({ ...smallest.plan, projects }))) break;
  }
  if (smallest.plan.traces !== 'off') await keepIfSame({ ...smallest.plan, traces: 'off' });
  return smallest;
}

/** Writes the command that plays a plan. */
export function toCommand({ seed }: Plan, plan: Plan, plant?: string): string {
  const { cards, lengthMs, projects, traces, members, release, keptMs } = plan;
  const parts = [`npm run world -- --seed=${seed}`];
  parts.push(
    `--cards=${cards.map(({ card, atMs, forMs }) => `${card.replaceAll(' ', '_')}@${atMs}+${forMs}`).join(',')}`,
  );
  parts.push(`--length=${lengthMs}`, `--projects=${projects}`, `--traces=${traces}`);
  parts.push(`--members=${members}`);
  if (release !== undefined) parts.push(`--release=${release}`);
  if (keptMs !== undefined) parts.push(`--kept=${keptMs}`);
  if (plant !== undefined) parts.push(`--plant=${plant.replaceAll(' ', '_')}`);
  return parts.join(' ');
}
