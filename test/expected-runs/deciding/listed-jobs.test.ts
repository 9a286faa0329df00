import { describe, expect, it } from 'vitest';
import { findLongGone, planGone, planListed } from '../../../src/expected-runs/deciding/listed-jobs.ts';
import type { Tally } from '../../../src/expected-runs/deciding/tally.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { someJob } from '../some-job.ts';

const dayMs = 86_400_000;
const listed = { id: 'a', name: 'a', group: '', isScheduled: true, isEnabled: true, isScheduleEnabled: true };

function job(id: string, fields: Partial<WatchedJob> = {}): WatchedJob {
  return someJob({ id, ...fields });
}
const toMap = (jobs: readonly WatchedJob[]) => new Map(jobs.map((each) => [each.id, each]));
/** A name of this many characters. */
const long = (count: number): string => 'n'.repeat(count);

describe('expected-runs/deciding/listed-jobs', () => {
  it.each<[string, readonly WatchedJob[], readonly string[], number, string]>([
    ['a known job first', [job('a'), job('b', { goneAtMs: 5 })], ['b', 'a'], 1, 'a'],
    ['a job that returns, if there is space', [job('a'), job('b', { goneAtMs: 5 })], ['b', 'a'], 2, 'b a'],
    ['new jobs while there is space', [job('a')], ['a', 'b', 'c', 'd'], 3, 'a b c'],
    ['known jobs without space', [job('a'), job('b')], ['a', 'b'], 1, 'a b'],
    ['the end of missing jobs', [job('a'), job('b'), job('c', { goneAtMs: 5 })], ['a'], 9, 'a b gone'],
    ['no job of another project', [job('a'), job('b', { project: 'shop' })], [], 9, 'a gone'],
  ])('records from a list of jobs: %s', (...[, jobs, ids, maxJobs, expected]) => {
    const all = toMap(jobs);
    const notes = planListed(all, { project: 'pay', listed: ids.map((id) => ({ ...listed, id })), atMs: 10, maxJobs });
    const judged = notes.flatMap((note) => note());
    const words = judged.map(({ job: { id, goneAtMs } }) => (goneAtMs === 10 ? `${id} gone` : id));
    expect(words.join(' ')).toBe(expected);
  });

  it('watches jobs whose names have a million characters in total', () => {
    const known = [job('a', { name: long(999_980), group: long(10) }), job('b', { goneAtMs: 5, name: long(50) })];
    const fits = (...counts: readonly number[]) => {
      const names = counts.map((count, index) => ({ ...listed, id: `${index}`, name: long(count - 1), group: 'g' }));
      const notes = planListed(toMap(known), { project: 'shop', listed: names, atMs: 10, maxJobs: 9 });
      return notes.length;
    };
    expect([fits(10), fits(11), fits(5, 5), fits(5, 6)]).toEqual([1, 0, 2, 1]);
  });

  it('withdraws the future times of a deleted job', () => {
    const timetable = { source: 'forecast', askedAtMs: 0, confirmedMs: 0, untilMs: 50, timesMs: [5, 10, 11] } as const;
    const jobs = [job('a', { timetable }), job('b', { timetable: { ...timetable, untilMs: 8 } }), job('c')];
    const all = toMap(jobs);
    const notes = planGone(all, () => true, 10);
    const judged = notes.flatMap((note) => note());
    expect(judged.map(({ job: { timetable: left } }) => [left?.timesMs, left?.untilMs])).toEqual([
      [[5, 10], 10],
      [[5, 10], 8],
      [undefined, undefined],
    ]);
    expect(judged.map(({ job: { goneAtMs } }) => goneAtMs)).toEqual([10, 10, 10]);
    // Meanwhile, another change has recorded that the job `a` is gone.
    all.set('a', job('a', { goneAtMs: 7 }));
    expect(notes.flatMap((note) => note())).toHaveLength(2);
  });

  const tally = (name: string, kind: Tally['kind'] = 'missed'): Tally => ({
    kind,
    labels: ['pay', '', name, 'passive'],
    count: 3,
    isReleased: true,
  });
  it.each<[string, readonly WatchedJob[], string, string]>([
    ['a job that was deleted a month ago', [job('a', { goneAtMs: 5 })], '', ''],
    ['a job that was deleted earlier', [job('a', { goneAtMs: 4 })], 'a', 'k'],
    ['a job whose name another job has', [job('a', { goneAtMs: 4 }), job('b', { name: 'a' })], 'a', ''],
    [
      'the oldest of too many deleted jobs',
      ['a', 'b', 'c'].map((id, index) => job(id, { goneAtMs: 5 + index })),
      'a',
      'k',
    ],
    ['deleted jobs with long names', [job('a', { goneAtMs: 5 }), job('b', { goneAtMs: 6, name: long(1e6) })], 'a', 'k'],
    [
      'deleted jobs whose names fit',
      [job('a', { goneAtMs: 5 }), job('b', { goneAtMs: 6, name: long(1e6 - 1) })],
      '',
      '',
    ],
  ])('removes %s', (_what, jobs, ids, keys) => {
    const tallies = new Map([
      ['k', tally('a')],
      ['late', tally('a', 'delay')],
      ['other', tally('other')],
    ]);
    const found = findLongGone({ all: toMap(jobs), tallies, nowMs: 30 * dayMs + 5, maxJobs: 2 });
    expect([found.ids.join(' '), found.keys.join(' ')]).toEqual([ids, keys]);
  });
});
