import type { Execution } from '../../domain/execution.ts';
import type { Row } from '../../metrics/family.ts';
import { type JobName, otherJobs, toJobName, toJobPath } from '../counting/naming.ts';
import { isNoJob, type SeriesSlots } from '../counting/series-slots.ts';
import { toJobKey } from '../counting/totals.ts';
import type { ExecutionSettings } from '../settings.ts';
import { type ActiveRun, toActiveRows } from './cicd.ts';
import { executionFamilies as families } from './families.ts';

type RunningInput = {
  readonly executions: readonly Execution[];
  /** Readable projects, whose series are 0 while no execution runs. */
  readonly projects: readonly string[];
  readonly nowMs: number;
  readonly slots: SeriesSlots;
  readonly settings: ExecutionSettings;
};

type Group = { readonly labels: Labels; running: number; overdue: number; oldestMs: number };
type Labels = { readonly project: string; readonly job_group: string; readonly job_name: string };

export function toRunningRows({ executions, projects, nowMs, slots, settings }: RunningInput): Row[] {
  const claims = slots.claim();
  const groups = new Map<string, Group>();
  const waiting = new Map<string, { readonly project: string; readonly status: string; count: number }>();

  function toOwner(project: string, job: JobName): JobName {
    const hasPlace = isNoJob(job.name) || claims.has('jobs', toJobKey(project, job.group, job.name));
    return hasPlace ? job : { group: '', name: otherJobs };
  }

  function toGroup(project: string, group: string, name: string): Group {
    const owner = toOwner(project, { group, name });
    const labels = { project, job_group: owner.group, job_name: owner.name };
    const key = JSON.stringify(Object.values(labels));
    const found = groups.get(key) ?? { labels, running: 0, overdue: 0, oldestMs: Number.POSITIVE_INFINITY };
    groups.set(key, found);
    return found;
  }

  const active: ActiveRun[] = [];

  for (const project of projects) {
    toGroup(project, '', '');
    for (const status of ['scheduled', 'queued'])
      waiting.set(JSON.stringify([project, status]), { project, status, count: 0 });
  }
  // The longest running execution comes first, so that its series stays when others start.
  for (const execution of executions.toSorted(byStart)) {
    const { project, status, startedAtMs, endedAtMs } = execution;
    if (project === undefined || endedAtMs !== undefined || !settings.isWantedProject(project)) continue;
    const job = toJobName(execution);
    if (!settings.isWantedJob(toJobPath(project, job))) continue;
    if (status === 'scheduled' || status === 'queued') {
      const key = JSON.stringify([project, status]);
      const line = waiting.get(key) ?? { project, status, count: 0 };
      line.count += 1;
      waiting.set(key, line);
      active.push({ project, ...toOwner(project, job), isWaiting: true });
      continue;
    }
    const group = toGroup(project, job.group, job.name);
    group.running += 1;
    active.push({ project, group: group.labels.job_group, name: group.labels.job_name, isWaiting: false });
    group.overdue += Number(isOverdue(execution, project, nowMs, settings));
    group.oldestMs = Math.min(group.oldestMs, startedAtMs);
  }
  return [
    ...[...groups.values()].flatMap(({ labels, running, overdue, oldestMs }) => [
      ...families.running.rows(running, labels),
      ...families.oldestStart.rows(Number.isFinite(oldestMs) ? oldestMs / 1000 : undefined, labels),
      ...families.overdue.rows(overdue, labels),
    ]),
    ...[...waiting.values()].flatMap(({ project, status, count }) => families.queued.rows(count, { project, status })),
    ...(settings.cicd ? toActiveRows(active) : []),
  ];
}

function byStart(one: Execution, other: Execution): number {
  return one.startedAtMs - other.startedAtMs || one.id - other.id;
}

/** Reports whether a run has lasted longer than a minimum and, if the average of its job is known, than a multiple of it. */
export function isOverdue(
  execution: Execution,
  project: string,
  nowMs: number,
  { overdueFactorOf, overdueFloorMs }: Pick<ExecutionSettings, 'overdueFactorOf' | 'overdueFloorMs'>,
): boolean {
  const averageMs = execution.job?.averageDurationMs;
  if (averageMs === undefined) return false;
  const factor = overdueFactorOf(toJobPath(project, toJobName(execution)));
  return nowMs - execution.startedAtMs > Math.max(factor * averageMs, overdueFloorMs);
}
