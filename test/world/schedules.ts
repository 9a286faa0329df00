import { timesBetween } from '../../simulator/engine/schedule.ts';
import { type Job, startedAt } from '../../simulator/world/installation.ts';
import type { CardName } from './cards.ts';
import { toPaceMs } from './plan.ts';
import { birthMs, type Scene } from './scene.ts';
import { labelOf, type Shown } from './shown.ts';

/** Cards after which each scheduled time must still be decided exactly once. */
const plainCards: readonly CardName[] = [
  'kill',
  'stop',
  'absence',
  'hold',
  'reload',
  'full disk',
  'fewer series',
  'upgrade',
  'passive',
  'refuse',
  'silence',
  'unavailable',
  'some fail',
  'broken running list',
  'import',
  'flood',
  'retention',
  'totals lie',
  'small pages',
  'late ends',
  'long runs',
];

/** The maximum delay of an expected run. */
const marginMs = 600_000;

/** Checks that no run that started counts as missed, and that each scheduled time is decided once. */
export function judgeSchedules(scene: Scene, shown: Shown, onFault: (oracle: string, says: string) => void): void {
  const { plan, service, time, estate, truth } = scene;
  // The simulator starts scheduled runs by true time.
  if (plan.listsEveryMs === undefined || truth.troubles.some(({ what }) => what === 'step')) return;
  const isPlain = plan.cards.every(({ card }) => plainCards.includes(card));
  for (const { name: project } of estate.places) {
    const jobs = [...service.world.jobs.values()].filter((job) => job.project.name === project);
    const due = jobs.map((job) => listDue(job, time.nowMs()));
    const ran = jobs.map((job) => listStarts(scene, job));
    let missed = 0;
    for (const [index, { definition }] of jobs.entries()) {
      const said = sum(shown, 'automation_schedule_missed_total', { project, job_name: definition.name });
      missed += said;
      const truly = due[index]?.filter((atMs) => ran[index]?.every((startMs) => !isOf(startMs, atMs))).length ?? 0;
      if (said > truly)
        onFault('no run that started counts as missed', `${project} ${definition.name}: ${said} of ${truly}`);
    }
    if (!isPlain) continue;
    const undecided = sum(shown, 'automation_schedule_undecided_total', { project });
    const started = sum(shown, 'automation_schedule_delay_seconds_count', { project });
    const decided = missed + undecided + started;
    if (undecided > 0 && truth.troubles.every(({ what }) => what === 'server mode'))
      onFault('a time is decided if schedules can be read', `${project}: ${undecided} undecided`);
    const most = due.flat().length;
    const paceMs = 2 * toPaceMs(plan);
    const least = due.flat().filter((atMs) => atMs > birthMs + paceMs && atMs < time.nowMs() - paceMs).length;
    if (decided < least || decided > most)
      onFault(
        'each time of a schedule is decided once',
        `${project}: ${started} ran, ${missed} missed, ${undecided} undecided of ${least} to ${most}`,
      );
  }
}

function isOf(startMs: number, expectedMs: number): boolean {
  return startMs > expectedMs - 5000 && startMs < expectedMs + marginMs;
}

function listDue({ definition: { schedule } }: Job, untilMs: number): readonly number[] {
  return schedule === undefined ? [] : timesBetween(schedule, birthMs, untilMs, Number.POSITIVE_INFINITY);
}

function listStarts({ service }: Scene, job: Job): readonly number[] {
  const { history } = service.world;
  const own = history.filter((each) => each.job === job && each.type === 'scheduled' && each.attempt === 0);
  return own.map((execution) => startedAt(execution) - execution.skewMs);
}

function sum(shown: Shown, family: string, labels: Readonly<Record<string, string>>): number {
  let total = 0;
  for (const [key, value] of shown)
    if (key.startsWith(`${family}{`) && Object.entries(labels).every(([name, text]) => labelOf(key, name) === text))
      total += value;
  return total;
}
