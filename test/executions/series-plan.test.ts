import { describe, expect, it } from 'vitest';
import { planRoom, type SeriesRules, seriesOfJob } from '../../src/executions/series/series-plan.ts';
import { defaultBuckets, defaultMaxSeries } from '../../src/executions/settings.ts';

const defaults: SeriesRules = {
  maxSeries: defaultMaxSeries,
  cap: 5000,
  detail: 200,
  buckets: defaultBuckets,
  families: new Map(),
  cicd: false,
};
const onePlain = { projects: 1, projectHistograms: 0 };

function rulesOf(family: string, rule: Partial<{ off: boolean; dropLabels: string[] }>): SeriesRules {
  return { ...defaults, families: new Map([[family, { off: false, dropLabels: [], ...rule }]]) };
}

describe('executions/series-plan', () => {
  it('has room for 5,000 jobs by default', () => {
    const use = { projects: 1000, projectHistograms: 3000 };
    expect(planRoom(defaults, use)).toEqual({ jobs: 5000, durations: 200, nodes: 5000 });
  });

  it('reserves all possible series of a job except durations', () => {
    expect(seriesOfJob(defaults)).toBe(28);
    expect(seriesOfJob({ ...defaults, classes: true })).toBe(31);
    expect(seriesOfJob(rulesOf('automation_job_last_status', { off: true }))).toBe(21);
    expect(seriesOfJob(rulesOf('automation_executions_total', { dropLabels: ['status'] }))).toBe(22);
    expect(seriesOfJob(rulesOf('automation_executions_total', { dropLabels: ['job_name'] }))).toBe(21);
  });

  it('never plans more series than the limit allows', () => {
    for (const maxSeries of [1, 10, 100, 1000, 10_000, 100_000])
      for (const detail of [0, 200, 5000])
        for (const projects of [1, 10, 100]) {
          const room = planRoom({ ...defaults, maxSeries, detail }, { projects, projectHistograms: projects });
          const series = 28 * room.jobs + 112 * room.durations + room.nodes + 120 * projects;
          expect(series <= maxSeries || room.jobs + room.durations + room.nodes === 0).toBe(true);
        }
  });

  it('divides a small limit between jobs and their durations', () => {
    expect(planRoom({ ...defaults, maxSeries: 10_000 }, onePlain)).toEqual({ jobs: 223, durations: 28, nodes: 494 });
    expect(planRoom({ ...defaults, detail: 5000 }, onePlain)).toEqual({ jobs: 5000, durations: 1382, nodes: 5000 });
  });

  it('gives jobs the series that durations do not need', () => {
    expect(planRoom({ ...defaults, maxSeries: 10_000, detail: 0 }, onePlain).jobs).toBe(335);
    const off = rulesOf('automation_execution_duration_seconds', { off: true });
    expect(planRoom({ ...off, maxSeries: 10_000 }, onePlain).jobs).toBe(336);
  });

  it("reserves series for OpenTelemetry's names", () => {
    const cicd = { ...defaults, cicd: true };
    expect(seriesOfJob(cicd)).toBe(32);
    // With OpenTelemetry's names, a project has 56 more series, a job with durations 96 more.
    expect(planRoom({ ...cicd, maxSeries: 10_000 }, onePlain)).toEqual({ jobs: 194, durations: 15, nodes: 491 });
    expect(planRoom(cicd, { projects: 100, projectHistograms: 0 })).toEqual({
      jobs: 5000,
      durations: 200,
      nodes: 5000,
    });
  });

  it('reserves series of durations only for jobs with their own series', () => {
    expect(planRoom({ ...defaults, cap: 10 }, onePlain).durations).toBe(10);
  });
});
