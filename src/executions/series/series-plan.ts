import type { FamilyRule } from '../../metrics/bound.ts';
import type { Family } from '../../metrics/family.ts';
import { endings, triggers } from '../counting/naming.ts';
import type { Room } from '../counting/series-slots.ts';
import { cicdSeries } from './cicd.ts';
import { executionFamilies as families } from './families.ts';

export type SeriesRules = {
  /** Series that all families of executions may have together, for one server. */
  readonly maxSeries: number;
  /** Jobs, and nodes, that may have series of their own. */
  readonly cap: number;
  /** Jobs that may have durations of their own. */
  readonly detail: number;
  readonly buckets: readonly number[];
  readonly families: ReadonlyMap<string, FamilyRule>;
  /** True if what is counted is shown under OpenTelemetry's names as well. */
  readonly cicd: boolean;
};

/** The series that are used before any job takes some. */
export type SeriesUse = {
  readonly projects: number;
  /** Histograms of projects: of runs without a job, and of all jobs without their own durations. */
  readonly projectHistograms: number;
};

/**
 * Computes the number of jobs and nodes with series of their own. All series that a job may ever have are reserved with its
 * slot, so that later runs never take a series away from another job. If not all fits, two thirds are for jobs and the rest
 * for their durations.
 */
export function planRoom(rules: SeriesRules, use: SeriesUse): Room {
  const { maxSeries, cap, detail } = rules;
  const histograms = Math.max(use.projectHistograms, use.projects * histogramsOfProject);
  const ofHistogram = seriesOfHistogram(rules) + seriesOfPipeline(rules) / cicdSeries.histograms;
  const shared = use.projects * seriesOfProject(rules) + histograms * ofHistogram;
  const left = Math.max(0, maxSeries - shared);
  const ofNode = costOf(rules, families.nodeFailures, 1);
  const nodes = fit(Math.floor(left / shareOfNodes), ofNode, cap);
  const forJobs = left - nodes * ofNode;
  const ofJob = seriesOfJob(rules);
  const ofDurations = endings.length * seriesOfHistogram(rules) + seriesOfPipeline(rules);
  const jobs = fit(Math.max((2 * forJobs) / 3, forJobs - detail * ofDurations), ofJob, cap);
  return { jobs, durations: fit(forJobs - jobs * ofJob, ofDurations, Math.min(detail, jobs)), nodes };
}

/** Counts the series that a job may have, except its durations. */
export function seriesOfJob(rules: SeriesRules): number {
  return sumOf(rules, ofEachJob) + (rules.cicd ? sumOf(rules, ofEachPipeline) : 0);
}

function seriesOfProject(rules: SeriesRules): number {
  // Of deleted jobs and of all jobs without a place there may be one each.
  return sumOf(rules, ofEachProject) + (rules.cicd ? 2 * sumOf(rules, ofEachPipeline) : 0);
}

/** One for each bound, one without a bound, the sum and the count. */
function seriesOfHistogram(rules: SeriesRules): number {
  return costOf(rules, families.duration, rules.buckets.length + 3);
}

/** The durations of a job under OpenTelemetry's name. */
function seriesOfPipeline(rules: SeriesRules): number {
  if (!rules.cicd) return 0;
  return cicdSeries.histograms * costOf(rules, families.pipelineDuration, rules.buckets.length + 3);
}

function sumOf(rules: SeriesRules, costs: readonly Cost[]): number {
  return costs.reduce((sum, [family, series]) => sum + costOf(rules, family, series), 0);
}

type Cost = readonly [family: Family, series: number];

const ofEachJob: readonly Cost[] = [
  [families.running, 1],
  [families.oldestStart, 1],
  [families.overdue, 1],
  [families.total, endings.length],
  [families.nodes, 2],
  [families.averageDuration, 1],
  [families.lastStart, 1],
  [families.lastEnd, 1],
  [families.lastSuccess, 1],
  [families.lastDuration, 1],
  [families.lastId, 1],
  [families.lastFailedId, 1],
  [families.lastStatus, endings.length],
  [families.consecutiveFailures, 1],
  [families.successAgeLimit, 1],
];

const ofEachPipeline: readonly Cost[] = [
  [families.pipelineActive, cicdSeries.states],
  [families.pipelineErrors, cicdSeries.errors],
];

/** Of runs without a job, of deleted jobs and of all jobs without a place: three times what adds up. */
const ofEachProject: readonly Cost[] = [
  [families.running, 2],
  [families.oldestStart, 2],
  [families.overdue, 2],
  [families.queued, 2],
  [families.hidden, 1],
  [families.total, 3 * endings.length],
  [families.nodes, 3 * 2],
  [families.nodeFailures, 1],
  [families.projectTotal, triggers.length * endings.length],
];

/** Those that most projects come to: what is reserved takes no job its place later. */
const histogramsOfProject = 3;
const shareOfNodes = 20;

/** Without a label for the job a family costs next to nothing. */
function costOf({ families: switches }: SeriesRules, { name, labels }: Family, series: number): number {
  const { off = false, dropLabels = [] } = switches.get(name) ?? {};
  if (off || ['job_name', 'node', 'cicd_pipeline_name'].some((label) => dropLabels.includes(label))) return 0;
  const hasEndings = labels.includes('status') && name !== families.duration.name;
  return hasEndings && dropLabels.includes('status') ? series / endings.length : series;
}

function fit(series: number, each: number, most: number): number {
  if (each === 0) return most;
  return Math.max(0, Math.min(most, Math.floor(series / each)));
}
