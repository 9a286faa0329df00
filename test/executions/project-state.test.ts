import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/api/paging.ts';
import {
  type ProjectState,
  resume,
  rewind,
  rewindAbsent,
  rewindUnseen,
  toNewProject,
  toNextWindow,
  withNewestRead,
  withNewestReadBehind,
  withPastRead,
  withThrough,
} from '../../src/executions/ledger/project-state.ts';
import { dayMs } from '../support/durations.ts';

describe('executions/project-state', () => {
  it('starts without any read executions', () => {
    expect(toNewProject('pay', 5000)).toEqual({
      project: 'pay',
      countedFromMs: 5000,
      scannedThroughMs: 5000,
      rereadThroughMs: 5000,
    });
  });

  it('continues from its progress after a hold', () => {
    expect(resume(held({ scannedThroughMs: 3 * dayMs }), 10 * dayMs, 7 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: dayMs,
      scannedThroughMs: 3 * dayMs,
      rereadThroughMs: dayMs,
    });
  });

  it('skips executions older than the catch-up limit', () => {
    expect(resume(held({ scannedThroughMs: 2 * dayMs }), 10 * dayMs, 7 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: 259_200_000,
      scannedThroughMs: 259_200_000,
      rereadThroughMs: 259_200_000,
      prunedThroughMs: dayMs,
      skips: [{ beginMs: 172_800_000, endMs: 259_199_999, reason: 'disabled' }],
    });
  });

  it('skips nothing of its backlog', () => {
    const behind = held({
      scannedThroughMs: 2 * dayMs,
      aheadThroughMs: 9 * dayMs,
      backlog: [{ beginMs: 2 * dayMs, endMs: 3 * dayMs }],
    });
    expect(resume(behind, 10 * dayMs, 7 * dayMs)).toMatchObject({ scannedThroughMs: 2 * dayMs, countedFromMs: dayMs });
  });

  it('keeps a start of counting that a fast clock dated after the catch-up limit', () => {
    const began = { countedFromMs: 9.5 * dayMs, scannedThroughMs: 2 * dayMs, rereadThroughMs: 2 * dayMs };
    expect(resume(held(began), 10 * dayMs, dayMs)).toEqual({ project: 'pay', ...began });
  });

  it('counts again from the time to which the clock was set back', () => {
    const ahead = held({
      hold: undefined,
      countedFromMs: 20 * dayMs,
      scannedThroughMs: 21 * dayMs,
      rereadThroughMs: 20 * dayMs,
      aheadThroughMs: 27 * dayMs,
      backlog: [{ beginMs: 21 * dayMs, endMs: 22 * dayMs }],
      prunedThroughMs: 2 * dayMs,
      skips: [{ beginMs: 9 * dayMs, endMs: 20 * dayMs - 1, reason: 'outage' }],
    });
    expect(rewind(ahead, 10 * dayMs)).toEqual({
      project: 'pay',
      hold: undefined,
      countedFromMs: 864_000_000,
      scannedThroughMs: 864_000_000,
      rereadThroughMs: 864_000_000,
      prunedThroughMs: 172_800_000,
      heldSinceMs: 172_800_000,
      skips: [{ beginMs: 777_600_000, endMs: 863_999_999, reason: 'outage' }],
    });
    expect(rewind({ ...ahead, prunedThroughMs: 12 * dayMs }, 10 * dayMs).countedFromMs).toBe(12 * dayMs);
  });

  it('starts counting earlier if a clock step was noticed late', () => {
    const ahead = { ...toNewProject('pay', 20 * dayMs), scannedThroughMs: 23 * dayMs };
    expect(rewindUnseen(ahead, 11 * dayMs)).toEqual({
      project: 'pay',
      countedFromMs: 8 * dayMs,
      scannedThroughMs: 10 * dayMs,
      rereadThroughMs: 10 * dayMs,
    });
    expect(rewindUnseen({ ...ahead, prunedThroughMs: 9 * dayMs }, 11 * dayMs).countedFromMs).toBe(9 * dayMs);
    const old = { ...toNewProject('pay', 2 * dayMs), scannedThroughMs: 11 * dayMs + 600_000 };
    // The clock may have been an hour ahead.
    expect(rewindUnseen(old, 11 * dayMs)).toMatchObject({
      countedFromMs: 2 * dayMs,
      scannedThroughMs: 11 * dayMs - 3_000_000,
    });
  });

  it('keeps its progress from before the clock was set back', () => {
    const state = { ...toNewProject('pay', dayMs), scannedThroughMs: 9 * dayMs };
    expect(rewind(state, 10 * dayMs)).toEqual(state);
    expect(rewind(state, 9 * dayMs).scannedThroughMs).toBe(9 * dayMs);
    const began = { ...state, countedFromMs: 10 * dayMs + 1 };
    expect(rewind(began, 10 * dayMs, true).countedFromMs).toBe(10 * dayMs - 60_000);
    expect(rewindAbsent(began, { toMs: 10 * dayMs, isCertain: false }).countedFromMs).toBe(began.countedFromMs);
    const skips = [{ beginMs: 8 * dayMs, endMs: 9 * dayMs, reason: 'outage' }];
    const toSkips = (toMs: number) => rewind({ ...state, skips }, toMs).skips?.map(({ endMs }) => endMs);
    expect([9 * dayMs + 1, 8 * dayMs + 1, 8 * dayMs].map(toSkips)).toEqual([[9 * dayMs], [8 * dayMs], undefined]);
  });

  it.each([
    [-60_000, 0],
    [0, 0],
    [1, 3_599_999],
    [600_000, 3_000_000],
    [1_800_000, 1_800_000],
    [2_400_000, 2_400_000],
    [dayMs, dayMs],
    [dayMs + 1, dayMs],
  ])(
    'after an unseen clock step, if a project was read up to %d ms after now, reads it again from %d ms before now',
    (aheadMs, againMs) => {
      const nowMs = 9 * dayMs;
      const state = { ...toNewProject('pay', dayMs), scannedThroughMs: nowMs + aheadMs };
      expect(rewindUnseen(state, nowMs).scannedThroughMs).toBe(nowMs + Math.min(aheadMs, -againMs));
      expect(rewindUnseen({ ...state, countedFromMs: nowMs }, nowMs).countedFromMs).toBe(nowMs);
    },
  );

  it('adds the span that a project skips to its earlier skips', () => {
    const skips = [{ beginMs: 0, endMs: 5, reason: 'disabled' }];
    const state = { ...toNewProject('pay', dayMs), scannedThroughMs: 3 * dayMs - 1, skips, prunedThroughMs: 7 };
    expect(resume(state, 10 * dayMs, 7 * dayMs)).toMatchObject({
      prunedThroughMs: 7,
      skips: [...skips, { beginMs: 3 * dayMs - 1, endMs: 3 * dayMs - 1, reason: 'outage' }],
    });
  });
});

/** Reads windows such as `20-40 60-80`. */
const windows = (text: string): Window[] =>
  text === ''
    ? []
    : text.split(' ').map((each) => {
        const [beginMs = 0, endMs = 0] = each.split('-').map(Number);
        return { beginMs, endMs };
      });
const one = (text: string): Window => windows(text)[0] ?? { beginMs: 0, endMs: 0 };

/** A project that is read up to 100, except for its backlog. */
function behind(backlog: string, more: Partial<ProjectState> = {}): ProjectState {
  const state = { ...toNewProject('pay', 0), scannedThroughMs: 100 };
  const [first] = windows(backlog);
  if (first === undefined) return { ...state, ...more };
  const progress = { scannedThroughMs: first.beginMs - 1, aheadThroughMs: 100 };
  return { ...state, ...progress, backlog: windows(backlog), ...more };
}

/** Describes progress: the end of what is read, the end of what is read ahead, and the backlog between them. */
function describeProgress({ scannedThroughMs, aheadThroughMs, backlog = [], againFromMs }: ProjectState): string {
  const parts = backlog.map(({ beginMs, endMs }) => `${beginMs}-${endMs}`);
  const again = againFromMs === undefined ? [] : [`again from ${againFromMs}`];
  return [scannedThroughMs, aheadThroughMs ?? '-', ...parts, ...again].join(' ');
}

describe('executions/project-state, progress', () => {
  it.each([
    ['', '90-200', '', '200 -'],
    ['', '90-200', '90-150', '100 200 90-150'],
    ['', '90-200', '120-150', '119 200 120-150'],
    ['', '90-200', '150-250', '149 200 150-200'],
    ['', '90-200', '200-250', '199 200 200-200'],
    ['', '90-200', '201-250', '200 -'],
    ['', '90-200', '110-120 119-130', '109 200 110-130'],
    ['', '90-200', '110-120 120-130', '109 200 110-130'],
    ['', '90-200', '110-120 121-130', '109 200 110-120 121-130'],
    ['', '90-200', '121-130 110-125', '109 200 110-130'],
    ['', '90-200', '110-130 115-120', '109 200 110-130'],
    ['20-40', '90-200', '', '19 200 20-40'],
    ['20-40 60-80', '50-200', '', '19 200 20-40'],
    ['20-40 60-80', '70-200', '75-90', '19 200 20-40 60-69 75-90'],
    // The clock was set back.
    ['20-40 60-80', '65-70', '', '19 70 20-40 60-64'],
  ])(
    'with the backlog "%s", once the newest window %s is read except for "%s": the progress is %s',
    (backlog, window, rest, progress) => {
      const state = behind(backlog, { againFromMs: 5 });
      expect(describeProgress(withNewestRead(state, one(window), windows(rest)))).toBe(progress);
    },
  );

  it.each([
    ['50-60', '', '19 100 20-49 61-80'],
    ['20-60', '', '60 100 61-80'],
    ['21-60', '', '19 100 20-20 61-80'],
    ['50-80', '', '19 100 20-49'],
    ['50-79', '', '19 100 20-49 80-80'],
    ['81-90', '', '19 100 20-80'],
    ['20-80', '', '100 -'],
    ['20-80', '30-40', '29 100 30-40'],
  ])(
    'with a backlog from 20 to 80, once its window %s is read except for "%s": the progress is %s',
    (window, rest, progress) => {
      expect(describeProgress(withPastRead(behind('20-80'), one(window), windows(rest)))).toBe(progress);
    },
  );

  it.each([
    [101, '19 100 20-40 60-80'],
    [70, '19 70 20-40 60-70'],
    [60, '19 60 20-40 60-60'],
    [59, '19 59 20-40'],
    [20, '19 20 20-20'],
    [19, '19 -'],
    [5, '5 -'],
  ])('once it drops what was read after %d: the progress is %s', (throughMs, progress) => {
    expect(describeProgress(withThrough(behind('20-40 60-80'), throughMs))).toBe(progress);
  });

  it.each([
    ['20-40', '', undefined, '19 200 20-40'],
    ['20-40', '30-60', undefined, '19 200 20-40'],
    ['20-95', '92-95', undefined, '19 200 20-89 92-95 again from 90'],
    ['20-95', '80-89', undefined, '19 200 20-89'],
    ['20-40', '95-150', undefined, '19 200 20-40 101-150 again from 90'],
    ['20-40', '80-90', undefined, '19 200 20-40 again from 90'],
    ['20-40', '80-89', 50, '19 200 20-40 again from 50'],
    ['20-40', '80-90', 50, '19 200 20-40 again from 50'],
    ['20-40', '80-90', 120, '19 200 20-40 again from 90'],
  ])(
    'with the backlog %s, once a window from 90 to 200 is read except for "%s": the progress is %s',
    (...[backlog, rest, again, progress]) => {
      const state = behind(backlog, again === undefined ? {} : { againFromMs: again });
      const left = { rest: windows(rest), sinceMs: 90, newFromMs: 101 };
      expect(describeProgress(withNewestReadBehind(state, one('90-200'), left))).toBe(progress);
    },
  );

  it('joins the last two of too many windows', () => {
    const rest = Array.from({ length: 51 }, (_, index) => ({ beginMs: 110 + 10 * index, endMs: 112 + 10 * index }));
    expect(withNewestRead(behind(''), one('90-900'), rest.slice(1)).backlog).toEqual(rest.slice(1));
    expect(withNewestRead(behind(''), one('90-900'), rest).backlog).toEqual([
      ...rest.slice(0, 49),
      { beginMs: 600, endMs: 612 },
    ]);
  });

  it('reads a day of its backlog in one step', () => {
    const next = (beginMs: number, endMs: number) => toNextWindow({ ...behind(''), backlog: [{ beginMs, endMs }] });
    expect([next(5, dayMs + 4), next(5, dayMs + 5), next(5, 9), toNextWindow(behind(''))]).toEqual([
      { beginMs: 5, endMs: dayMs + 4 },
      { beginMs: 5, endMs: dayMs + 4 },
      { beginMs: 5, endMs: 9 },
      undefined,
    ]);
  });
});

function held(fields: Partial<ProjectState>): ProjectState {
  return { ...toNewProject('pay', dayMs), hold: 'disabled', heldSinceMs: 2 * dayMs, ...fields };
}
