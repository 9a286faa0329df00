import { toShiftRatio } from '../../domain/durations/drift.ts';
import type { JobFacts } from '../../domain/job.ts';
import { type Row, since } from '../../metrics/family.ts';
import { otherJobs, toJobPath } from '../counting/naming.ts';
import { isNoJob, type SeriesSlots, type Totals, toNodeKey } from '../counting/series-slots.ts';
import { type Cell, toJobKey } from '../counting/totals.ts';
import type { ProjectState } from '../ledger/project-state.ts';
import type { Sight } from '../reading/visibility.ts';
import type { ExecutionSettings } from '../settings.ts';
import { toCicdRows, toNativeBegin } from './cicd.ts';
import type { Exemplars } from './exemplars.ts';
import { executionFamilies as families } from './families.ts';

type RowsInput = {
  readonly totals: Totals;
  readonly states: ReadonlyMap<string, ProjectState>;
  /** Projects whose failures by class would fall below the values before a restore. */
  readonly behind?: ReadonlySet<string>;
  readonly settings: Pick<ExecutionSettings, 'buckets' | 'cicd' | 'isWantedJob' | 'successAgeMsOf' | 'ownerOf'>;
  readonly exemplars: Pick<Exemplars, 'of'>;
  /** The time at which native histograms of durations began. */
  readonly nativeSeconds: number | undefined;
};

/** Builds the series of the totals. Deleted projects have no series. A new series is published as 0 first. */
export function toTotalRows(input: RowsInput): Row[] {
  const { totals, states, settings, exemplars, nativeSeconds } = input;
  const cells = [...totals.cells.values()].filter((cell) => isShownCell(cell, input));
  const rows: Row[] = [];
  const rules = { bounds: settings.buckets, exemplars, nativeSeconds };
  for (const cell of cells) rows.push(...toCellRows(cell, rules));
  if (settings.cicd) for (const row of toCicdRows(cells, settings.buckets, nativeSeconds)) rows.push(row);
  for (const job of totals.jobs.values())
    if (isOfShown(states.get(job.project)) && job.leftOut !== 'all' && isThere(job, settings))
      rows.push(...toJobRows(job, settings));
  return rows;
}

/** Lists the keys of totals that are still published as 0. */
export function* listHeld(input: HeldInput): Generator<string> {
  const { totals, settings, omits } = input;
  for (const [key, cell] of totals.cells) {
    if (cell.isReleased || !isShownCell(cell, input)) continue;
    const rows = [...toCellRows(cell, withoutBuckets), ...(settings.cicd ? toCicdRows([cell], []) : [])];
    if (!rows.some(omits)) yield key;
  }
}

type HeldInput = ShownInput & {
  readonly settings: Pick<ExecutionSettings, 'cicd'>;
  readonly omits: (row: Row) => boolean;
};

type CellRules = Pick<RowsInput, 'exemplars' | 'nativeSeconds'> & { readonly bounds: readonly number[] };
export const withoutBuckets: CellRules = { bounds: [], exemplars: { of: () => [] }, nativeSeconds: undefined };

/** Reports whether a total is published: the total has a slot, and its project is neither deleted nor excluded. */
function isShownCell(cell: Cell, { totals, states, behind }: ShownInput): boolean {
  const [project = ''] = cell.labels;
  if (cell.kind === 'failures' && behind?.has(project) === true) return false;
  return isOfShown(states.get(project)) && hasPlace(cell, totals.slots);
}

type ShownInput = Pick<RowsInput, 'totals' | 'states' | 'behind'>;

/**
 * Reports whether the last values of a job are published. Only totals of a deleted or excluded job are published, for a while.
 */
function isThere({ project, group, name, goneSinceMs }: JobFacts, { isWantedJob }: RowsInput['settings']): boolean {
  return goneSinceMs === undefined && isWantedJob(toJobPath(project, { group, name }));
}

/** Reports whether a cell has a slot. A cell that sums over all jobs needs no slot. */
function hasPlace({ kind, labels }: Cell, slots: SeriesSlots): boolean {
  const [project = '', second = '', third = ''] = labels;
  if (kind === 'project-runs') return true;
  if (kind === 'node-failures') return second === otherJobs || slots.has('nodes', toNodeKey(project, second));
  return isNoJob(third) || slots.has(kind === 'durations' ? 'durations' : 'jobs', toJobKey(project, second, third));
}

/** Reports whether a project has series. Deleted and excluded projects have no series. */
export function isOfShown(state: ProjectState | undefined): boolean {
  return state !== undefined && state.hold !== 'missing' && state.hold !== 'excluded';
}

export function toCellRows(cell: Cell, { bounds, exemplars, nativeSeconds }: CellRules): Row[] {
  const { kind, labels, count, sumSeconds = 0, buckets = [], isReleased, startSeconds } = cell;
  const [project = '', second = '', third = '', fourth = ''] = labels;
  const value = isReleased ? count : 0;
  const job = { project, job_group: second, job_name: third };
  switch (kind) {
    case 'runs':
      return since(startSeconds, families.total.rows(value, { ...job, status: fourth }));
    case 'project-runs':
      return since(startSeconds, families.projectTotal.rows(value, { project, trigger: second, status: third }));
    case 'failures':
      return since(startSeconds, families.failures.rows(value, { ...job, class: fourth }));
    case 'nodes':
      return since(startSeconds, families.nodes.rows(value, { ...job, result: fourth }));
    case 'node-failures':
      return since(startSeconds, families.nodeFailures.rows(value, { project, node: second }));
    case 'durations': {
      const shown = isReleased
        ? { counts: buckets, sum: sumSeconds, count, exemplars: exemplars.of(cell) }
        : { counts: [], sum: 0, count: 0 };
      const began = toNativeBegin(cell, nativeSeconds);
      return families.duration.rows({ bounds, ...shown, ...began }, { ...job, status: fourth });
    }
    default:
      return kind satisfies never;
  }
}

type JobLabels = Readonly<Record<'project' | 'job_group' | 'job_name', string>>;

/** Returns the ratio of durations; it is below 1 for a job that became faster. */
function toShiftRows({ drift }: JobFacts, job: JobLabels): Row[] {
  const { shift } = drift ?? {};
  return [
    ...families.durationShift.rows(shift && toShiftRatio(shift), job),
    ...families.durationShiftSince.rows(toSeconds(shift?.sinceMs), job),
  ];
}

function toJobRows(facts: JobFacts, { successAgeMsOf, ownerOf }: RowsInput['settings']): Row[] {
  const { project, group, name } = facts;
  const path = toJobPath(project, { group, name });
  const owner = ownerOf?.(path);
  const job = { project, job_group: group, job_name: name };
  return [
    ...families.averageDuration.rows(toSeconds(facts.averageDurationMs), job),
    ...families.lastStart.rows(toSeconds(facts.lastStartMs), job),
    ...families.lastEnd.rows(toSeconds(facts.lastEndMs), job),
    ...families.lastSuccess.rows(toSeconds(facts.lastSuccessMs), job),
    ...families.lastDuration.rows(toSeconds(facts.lastDurationMs), job),
    ...toShiftRows(facts, job),
    ...families.flaky.rows(facts.flakiness?.isFlaky === true ? 1 : undefined, job),
    ...families.lastId.rows(facts.lastId, job),
    ...families.lastFailedId.rows(facts.lastFailedId, job),
    ...families.lastStatus.rows(facts.lastEnding, job),
    ...families.consecutiveFailures.rows(facts.consecutiveFailures, job),
    ...toLastFailureRows(facts, job),
    ...families.successAgeLimit.rows(toSeconds(successAgeMsOf(path)), job),
    ...(owner === undefined ? [] : families.owner.rows({ ...job, owner })),
  ];
}

/** Returns the rows that show the class of the last run of a job, if this run failed. */
function toLastFailureRows(
  { lastId, lastFailure }: JobFacts,
  job: Readonly<Record<'project' | 'job_group' | 'job_name', string>>,
): Row[] {
  if (lastFailure?.id !== lastId) return [];
  const { failureClass, lines } = lastFailure;
  return families.lastFailure.rows({
    ...job,
    class: failureClass,
    new: lines === undefined ? 'unknown' : String(lines.isNew),
  });
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

export function toHiddenRows({ history }: Sight): Row[] {
  return history.flatMap(({ project, counted, readable }) =>
    counted === undefined ? [] : families.hidden.rows(counted - readable, { project }),
  );
}
