import { expect, it } from 'vitest';
import { type Tally, toTallyKey } from '../../src/expected-runs/deciding/tally.ts';
import type { WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';
import { listHeld } from '../../src/expected-runs/showing/rows.ts';
import { someJob } from './some-job.ts';

function job(name: string, fields: Partial<WatchedJob> = {}): WatchedJob {
  return someJob({ id: name, group: 'nightly', ...fields });
}

function missed(name: string, fields: Partial<Tally> = {}): Tally {
  return { kind: 'missed', labels: ['pay', 'nightly', name, 'unknown'], count: 1, isReleased: false, ...fields };
}

it('lists counters that are still published as 0', () => {
  const held = listHeld({
    jobs: [job('there'), job('gone', { goneAtMs: 5 }), job('released'), job('omitted')],
    tallies: [missed('there'), missed('gone'), missed('released', { isReleased: true }), missed('omitted')],
    omits: (row) => row.labels.includes('omitted'),
  });
  expect(held).toEqual([toTallyKey(missed('there'))]);
});
