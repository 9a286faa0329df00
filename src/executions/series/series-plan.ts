import { endings } from '../../domain/execution.ts';
import type { FamilyRule } from '../../metrics/bound.ts';
import type { Family } from '../../metrics/family.ts';
import { triggers } from '../counting/naming.ts';
import type { Room } from '../counting/series-slots.ts';
import { cicdSeries } from './cicd.ts';
import { executionFamilies as families } from './families.ts';

export type SeriesRules = {
  /** The maximum of series in all families of executions together, for one server. */
  readonly maxSeries: number;
  /** The maximum of jobs, and of nodes, with their own series. */
  readonly cap: number;
  /** The maximum of jobs with their own durations. */
  readonly detail: number;
  readonly buckets: readonly number[];
  readonly families: ReadonlyMap<string, FamilyRule>;
  /** True if totals also have series with OpenTelemetry's names. */
  readonly cicd: boolean;
  /** True if failures are counted by class. */
  readonly classes?: boolean;
};

/** The series that exist before any job has one. */
type SeriesUse = {
  readonly projects: number;
  /** Histograms of projects: for runs without a job, and for jobs without duration series. */
  readonly projectHistograms: number;
};

/**
 * Computes how many jobs and nodes get their own series. A slot reserves all series that a job may ever have, so that later
 * runs never take series from another job. If not all jobs fit, two thirds of the series are for jobs, and the rest for their
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

/** Returns the number of series that a job may have, except its durations. */
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
  // Of each class, a project may have three series: for runs without a job, deleted jobs, and jobs without a slot.
  return sumOf(rules, ofEachProject) + ofClasses(rules, 3) + (rules.cicd ? 2 * sumOf(rules, ofEachPipeline) : 0);
}

/** One for each bound, one for infinity, the sum and the count. */
function seriesOfHistogram(rules: SeriesRules): number {
  return costOf(rules, families.duration, rules.buckets.length + 3);
}

/** A job's durations under OpenTelemetry's name. */
function seriesOfPipeline(rules: SeriesRules): number {
  if (!rules.cicd) return 0;
  return cicdSeries.histograms * costOf(rules, families.pipelineDuration, rules.buckets.length + 3);
}

function sumOf(rules: SeriesRules, costs: readonly Cost[]): number {
  return costs.reduce((sum, [family, series]) => sum + costOf(rules, family, series), 0);
}

type Cost = readonly [family: Family, series: number];

/** The reserved number of failure classes of a job: few jobs fail in more classes than this. */
const usualClasses = 2;

/** Omits series that only few jobs have at a time: changed durations and changing results. */
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

/** Three times: runs without a job, deleted jobs, and jobs without a slot. */
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

/** Most projects use this number. It is reserved, so that no job loses its slot later. */
const histogramsOfProject = 3;
const shareOfNodes = 20;

/** A family without a job label costs almost nothing. */
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
