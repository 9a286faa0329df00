import { type Execution, endedAt, startedAt, toStatus } from '../../simulator/world/installation.ts';
import { isOfExcludedJob, isShownSurely } from './left-out.ts';
import type { Scene } from './scene.ts';
import { labelOf, type Shown } from './shown.ts';

/** The expected total: a number, or a range. */
type Range = { least: number; most: number };

type JobLabels = { readonly group: string; readonly name: string };

/** The names that the job of a run has had since the run became readable; empty for a command without a job. */
export function toJobLabels(
  { truth, service }: Pick<Scene, 'truth' | 'service'>,
  { job, jobDeleted, end, type, attempt, retriedBy }: Execution,
): readonly JobLabels[] {
  if (job === undefined) return [{ group: '', name: '' }];
  const { group = '', name } = job.definition;
  const earlier = truth.renamed.filter(({ jobId, atMs }) => jobId === job.id && atMs >= (end?.visibleAtMs ?? 0));
  const names = new Set([...earlier.map((each) => each.name), name]);
  const labels = [...names].map((each) => ({ group, name: each }));
  // Without a mark, a run of a deleted job looks ad hoc.
  const { jobDeletedFlag, asDocumented } = service.world.release;
  const isRepeated = !asDocumented && (attempt > 0 || retriedBy !== undefined);
  const isOfJob = type === 'user-scheduled' || isRepeated;
  const deleted = jobDeletedFlag || isOfJob ? '__deleted__' : '';
  return jobDeleted ? [...labels, { group: '', name: deleted }] : labels;
}

/** The start, or the end if the start is impossibly old. */
export function toStart(execution: Execution): number {
  return startedAt(execution) < Date.UTC(2010, 0, 1) ? endedAt(execution) : startedAt(execution);
}

/** Compares every total with the runs. */
export function compareTotals(
  scene: Scene,
  shown: Shown,
  counted: ReadonlyMap<Execution, string>,
  onFault: (oracle: string, says: string) => void,
): void {
  const places = new Set(scene.estate.places.map(({ name }) => name));
  const expected = new Map<string, Range>();
  for (const [execution, project] of counted) if (places.has(project)) addRun(scene, execution, project, expected);
  const totals = readTotals(shown, places);
  foldOthers(expected, totals);
  if (scene.truth.fewerSinceMs !== undefined) foldAll(expected, totals);
  for (const [key, value] of totals)
    if (!expected.has(key) && value > 0) onFault('totals agree with the executions', `${key}: ${value} of nothing`);
  for (const [key, { least, most }] of expected) {
    const value = totals.get(key) ?? 0;
    if (value < least - slack || value > most + slack)
      onFault(
        'totals agree with the executions',
        `${key}: ${value} instead of ${least === most ? '' : `${least} to `}${most}`,
      );
  }
}

/** The tolerance for sums of seconds, which are not exact. */
const slack = 1e-4;

function addRun(scene: Scene, execution: Execution, project: string, expected: Map<string, Range>): void {
  const status = toStatus(execution, scene.service.world.playedMs);
  const trigger = triggers.find((known) => known === execution.type) ?? 'other';
  const { succeededNodes = [], failedNodes = [] } = execution.end ?? {};
  const seconds = (endedAt(execution) - startedAt(execution)) / 1000;
  const labels = toJobLabels(scene, execution);
  const isSure = isOfExcludedJob(scene, execution) !== undefined;
  // Servers mark ad hoc runs as scheduled.
  const maySeemAdHoc = execution.jobDeleted && trigger === 'scheduled';
  for (const each of maySeemAdHoc ? (['scheduled', 'user'] as const) : [trigger])
    addTo(expected, ['project', project, each, status], 1, isSure && !maySeemAdHoc);
  for (const node of failedNodes)
    addTo(expected, ['node', project, node], 1, isSure && isShownSurely(scene, execution));
  for (const { group, name } of labels) {
    const addOfJob = (value: number, kind: string, ...more: readonly string[]): void =>
      addTo(
        expected,
        [kind, project, group, name, ...more],
        value,
        isSure && labels.length === 1 && isShownSurely(scene, execution),
      );
    addOfJob(1, 'runs', status);
    if (succeededNodes.length > 0) addOfJob(succeededNodes.length, 'nodes', 'succeeded');
    if (failedNodes.length > 0) addOfJob(failedNodes.length, 'nodes', 'failed');
    // A clock was set back during the run, so it has no duration.
    if (seconds < 0 || toStart(execution) !== startedAt(execution)) continue;
    addOfJob(1, 'durations', status);
    addOfJob(seconds, 'seconds', status);
    for (const bound of bounds) if (seconds <= bound) addOfJob(1, 'within', status, bound.toFixed(1));
  }
}

const triggers = ['user', 'scheduled', 'user-scheduled', 'webhook'] as const;
const bounds = [5, 60];

function addTo(totals: Map<string, Range>, parts: readonly string[], value: number, isSure: boolean): void {
  const key = parts.join('|');
  const range = totals.get(key) ?? { least: 0, most: 0 };
  if (isSure) range.least += value;
  range.most += value;
  totals.set(key, range);
}

const families: Readonly<Record<string, readonly [kind: string, ...labels: string[]]>> = {
  automation_project_executions_total: ['project', 'project', 'trigger', 'status'],
  automation_node_failures_total: ['node', 'project', 'node'],
  automation_executions_total: ['runs', 'project', 'job_group', 'job_name', 'status'],
  automation_execution_nodes_total: ['nodes', 'project', 'job_group', 'job_name', 'result'],
  automation_execution_duration_seconds_count: ['durations', 'project', 'job_group', 'job_name', 'status'],
  automation_execution_duration_seconds_sum: ['seconds', 'project', 'job_group', 'job_name', 'status'],
  automation_execution_duration_seconds_bucket: ['within', 'project', 'job_group', 'job_name', 'status', 'le'],
};

function readTotals(shown: Shown, places: ReadonlySet<string>): Map<string, number> {
  const totals = new Map<string, number>();
  for (const [key, value] of shown) {
    const family = families[key.slice(0, Math.max(0, key.indexOf('{')))];
    if (family === undefined || !places.has(labelOf(key, 'project') ?? '')) continue;
    const [kind, ...labels] = family;
    const values = labels.map((label) => labelOf(key, label) ?? '');
    if (values.at(-1) !== '+Inf') totals.set([kind, ...values].join('|'), value);
  }
  return totals;
}

/** Adds the jobs without series of their own to `__other__`. */
function foldOthers(expected: Map<string, Range>, totals: ReadonlyMap<string, number>): void {
  const owners = new Set([...totals.keys()].map((key) => toOwner(key.split('|'))));
  for (const [key, { least, most }] of expected) {
    const [kind = '', project = '', , , ...more] = key.split('|');
    const owner = toOwner(key.split('|'));
    if (more.length === 0 || owners.has(owner) || !owners.has(toOwner([kind, project, '', '__other__']))) continue;
    expected.delete(key);
    const other = [kind, project, '', '__other__', ...more];
    addTo(expected, other, least, true);
    addTo(expected, other, most - least, false);
  }
}

/** After a time with too few series, a job or node is shown again after its next run. */
function foldAll(expected: Map<string, Range>, totals: Map<string, number>): void {
  const toOther = (key: string): string => {
    const [kind = '', project = '', ...more] = key.split('|');
    if (kind === 'project') return key;
    return kind === 'node' ? `node|${project}|` : [kind, project, ...more.slice(2)].join('|');
  };
  const ranges = [...expected];
  expected.clear();
  for (const [key, { least, most }] of ranges) {
    addTo(expected, [toOther(key)], least, true);
    addTo(expected, [toOther(key)], most - least, false);
  }
  const values = [...totals];
  totals.clear();
  for (const [key, value] of values) totals.set(toOther(key), (totals.get(toOther(key)) ?? 0) + value);
}

/** Returns the job that needs the series. */
function toOwner([kind = '', project = '', group = '', name = '']: readonly string[]): string {
  return [kind === 'runs' || kind === 'nodes' ? 'runs' : 'durations', project, group, name].join('|');
}
