import { expect, it } from 'vitest';
import {
  readKept,
  toJobDocument,
  toNodeDocument,
  toSourceDocument,
  toTallyDocument,
} from '../../src/expected-runs/documents.ts';
import { job } from './risks/some-risks.ts';

it.each([
  [[], []],
  [[5], [5]],
  [
    [5, 10],
    [5, 5, 1],
  ],
  [
    [5, 10, 15],
    [5, 5, 2],
  ],
  [
    [5, 10, 20, 30, 31, 32],
    [5, 5, 1, 10, 2, 1, 2],
  ],
  [
    [5, 6, 8, 9, 11],
    [5, 1, 1, 2, 1, 1, 1, 2, 1],
  ],
])('stores the times %j as %j', (timesMs, packed) => {
  const timetable = { source: 'forecast', askedAtMs: 0, untilMs: 99, confirmedMs: 0, timesMs } as const;
  const misses = [{ reason: 'passive', facts: [], timesMs }] as const;
  const kept = { ...job('a', []), timetable, misses };
  const document = toJobDocument(kept);
  const body: unknown = JSON.parse(document.body ?? '');
  expect(body).toMatchObject({ timetable: { timesMs: packed }, misses: [{ timesMs: packed }] });
  expect(readKept([document]).jobs).toEqual(new Map([['a', kept]]));
  expect(readKept([toJobDocument(job('b', undefined))]).jobs).toEqual(new Map([['b', job('b', undefined)]]));
});

it('reads what it stored, by kind', () => {
  const node = { node: 'db', sinceMs: 1, lastMs: 2, jobs: ['pay/a'] };
  const tally = { kind: 'missed', labels: ['pay'], count: 3, isReleased: true } as const;
  const timeline = [{ value: 'passive', fromMs: 1, throughMs: 2 }];
  const documents = [toNodeDocument('db', node), toTallyDocument(tally), toSourceDocument('mode ', timeline)];
  expect(readKept(documents)).toEqual({
    jobs: new Map(),
    tallies: new Map([['["missed","pay"]', tally]]),
    sources: new Map([['mode ', timeline]]),
    nodes: new Map([['db', node]]),
    hours: [],
    notedThroughMs: undefined,
  });
});
