import { endings } from '../../domain/execution.ts';
import type { FamilyRule } from '../../metrics/bound.ts';
import type { Family } from '../../metrics/family.ts';
import { triggers } from '../counting/naming.ts';
import type { Room } from '../counting/series-slots.ts';
import { cicdSeries } from './cicd.ts';
import { executionFamilies as families } from './families.ts';

export type SeriesRules = {
  /** The maximum number of series of all families of executions of one server. */
  readonly maxSeries: number;
  /** The maximum number of jobs, and of nodes, with their own series. */
  readonly cap: number;
  /** The maximum number of jobs with their own durations. */
  readonly detail: number;
  readonly buckets: readonly number[];
  readonly families: ReadonlyMap<string, FamilyRule>;
  /** True if series with OpenTelemetry's names are also published. */
  readonly cicd: boolean;
  readonly classes?: boolean;
};

/** The series that exist without any job. */
type SeriesUse = {
  readonly projects: number;
  /** The number of histograms of projects: for runs without a job, and for jobs without their own durations. */
  readonly projectHistograms: number;
};

/**
 * Computes how many jobs and nodes get their own series. A slot reserves all series that a job may ever have, so that later runs
 * never take series from another job. If not all jobs fit, two thirds of the series are for jobs, and one third is for their
 * durations.
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

/** Returns the maximum number of series of a job, without durations. */
export function seriesOfJob(rules: SeriesRules): number {
  return (
    sumOf(rules, ofEachJob) +
    ofClasses(rules, 1) +
    ofLastFailure(rules) +
    (rules.cicd ? sumOf(rules, ofEachPipeline) : 0)
  );
}

function ofClasses(rules: SeriesRules, owners: number): number {
  return rules.classes === true ? costOf(rules, families.failures, owners * usualClasses) : 0;
}

function ofLastFailure(rules: SeriesRules): number {
  return rules.classes === true ? costOf(rules, families.lastFailure, 1) : 0;
}

function seriesOfProject(rules: SeriesRules): number {
  // Each class has up to three series in a project: for runs without a job, deleted jobs, and jobs without a slot.
  return sumOf(rules, ofEachProject) + ofClasses(rules, 3) + (rules.cicd ? 2 * sumOf(rules, ofEachPipeline) : 0);
}

/** Returns the number of series of a histogram: one for each bound, one for infinity, the sum and the count. */
function seriesOfHistogram(rules: SeriesRules): number {
  return costOf(rules, families.duration, rules.buckets.length + 3);
}

/** Returns the number of series of a job's duration histograms with OpenTelemetry's names. */
function seriesOfPipeline(rules: SeriesRules): number {
  if (!rules.cicd) return 0;
  return cicdSeries.histograms * costOf(rules, families.pipelineDuration, rules.buckets.length + 3);
}

function sumOf(rules: SeriesRules, costs: readonly Cost[]): number {
  return costs.reduce((sum, [family, series]) => sum + costOf(rules, family, series), 0);
}

type Cost = readonly [family: Family, series: number];

/** The number of failure classes to reserve for a job. Few jobs fail with more classes. */
const usualClasses = 2;

/** The series of each job, without series that few jobs have. */
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

/** The series of each project for ad hoc runs, deleted jobs, and jobs without a slot. */
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

/** Most projects need three histograms. These series are reserved from the start, so that no job loses its slot later. */
const histogramsOfProject = 3;
const shareOfNodes = 20;

/** Returns the cost of a family. A family without a job label costs almost nothing. */
function costOf({ families: switches }: SeriesRules, { name, labels }: Family, series: number): number {
  const { off = false, dropLabels = [] } = switches.get(name) ?? {};
  if (off || ['job_name', 'node', 'cicd_pipeline_name'].some((label) => dropLabels.includes(label))) return 0;
  const hasEndings = labels.includes('status') && name !== families.duration.name;
  return hasEndings && dropLabels.includes('status') ? series / endings.length : series;
}

function fit(series: number, each: number, most: number): number {
  if (each === 0) return most;
  return Math.min(most, Math.floor(series / each));
}
