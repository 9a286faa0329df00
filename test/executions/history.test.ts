import { expect, it } from 'vitest';
import { toHistorySeries } from '../../src/executions/history/history-series.ts';
import { readPage, toPage } from '../../src/executions/history/pages.ts';
import { renderHistory } from '../../src/executions/history/write-series.ts';
import { histogram } from '../../src/metrics/family.ts';
import { someRun } from './some-execution.ts';

it('counts a duration equal to a bound in its bucket', () => {
  const family = histogram('demo_seconds', 'Durations.');
  const series = [{ family, lines: ['le60', 'inf', 'sum', 'count'], changes: [1000, 60, 1500, 70] }];
  const text = [...renderHistory(series, { bounds: [60], sinceMs: 0, untilMs: 2001 })].join('');
  expect(text.match(/^(le|inf|sum|count).* 2$/gm)).toEqual(['le601 2', 'inf2 2', 'sum130 2', 'count2 2']);
});

it('stores unknown starts of runs', () => {
  const page = toPage('pay', [someRun({ lacksStart: true }), someRun({ id: 2 })]);
  expect([...readPage(page)].map(([, { lacksStart }]) => lacksStart)).toEqual([true, undefined]);
});

it.each([
  ['b', 2],
  ['a', 1],
])('gives the job that ran last its own series', (last, endedAtMs) => {
  const toRun = (name: string, id: number) =>
    someRun({ id, endedAtMs: 105_000 + id, job: { id: name, name, group: '', averageDurationMs: undefined } });
  const pages = [toPage('pay', [toRun('a', 1), toRun('b', endedAtMs)])];
  const rules = { maxSeries: 10_000, cap: 1, detail: 1, buckets: [60], families: new Map(), cicd: false };
  const lines = toHistorySeries(pages, { rules, baseLabels: [] }).flatMap((series) => series.lines);
  expect(new Set(lines.flatMap((line) => /job_name="(\w)"/.exec(line)?.[1] ?? []))).toEqual(new Set([last]));
});
