import { describe, expect, it } from 'vitest';
import { createClearTimes, createWaits, toSeenRuns } from '../../src/expected-runs/seen-runs.ts';
import { someRun, someRunning } from '../executions/some-execution.ts';

describe('expected-runs/seen-runs', () => {
  it.each([
    ['the schedule started it', { type: 'scheduled' }, 'scheduled'],
    ['nothing says what started it', { type: undefined }, 'scheduled'],
    ['it repeats one that the schedule started', { type: 'scheduled', attempt: 1 }, 'other'],
    ['a person started it', { type: 'user' }, 'other'],
    ['the server missed it', { type: 'scheduled', status: 'missed' }, 'missed'],
  ] as const)('classifies a run if %s', (_what, fields, kind) => {
    expect(toSeenRuns([someRun(fields)])).toEqual(
      new Map([['a-1', [{ id: 1, startedAtMs: 100_000, endedAtMs: 105_000, kind }]]]),
    );
  });

  it('ignores executions that wait, have no start, or have no job', () => {
    const none = [someRunning({ status: 'scheduled' }), someRun({ lacksStart: true }), someRun({ job: undefined })];
    expect(toSeenRuns(none)).toEqual(new Map());
    const ended = someRunning({ status: 'scheduled', endedAtMs: 105_000 });
    expect(toSeenRuns([ended]).get('a-1')).toHaveLength(1);
  });
});

describe('expected-runs/waits', () => {
  it.each([
    [1, {}],
    [0, { startedAtMs: 100_000 }],
    [1, { startedAtMs: 100_001 }],
    [0, { status: 'running' }],
    [0, { endedAtMs: 900_000 }],
    [0, { job: undefined }],
  ] as const)('finds %d waiting runs: %j', (count, fields) => {
    const waits = createWaits();
    waits.note([someRunning({ status: 'scheduled', startedAtMs: 900_000, ...fields })], 100_000);
    expect([waits.of('a-1').length, waits.of('b').length]).toEqual([count, 0]);
  });

  it('keeps a wait for six hours', () => {
    const waits = createWaits();
    for (const ms of [100_000, 200_000]) waits.note([someRunning({ status: 'scheduled', startedAtMs: 900_000 })], ms);
    waits.note([], 900_000 + 6 * 3_600_000);
    expect(waits.of('a-1')).toMatchObject([{ startedAtMs: 100_000, endedAtMs: 900_000 }]);
    waits.note([], 900_000 + 6 * 3_600_000 + 1);
    expect(waits.of('a-1')).toEqual([]);
  });

  it('ends the wait of a one-time run that was aborted before its time', () => {
    const waits = createWaits();
    waits.note([someRunning({ status: 'scheduled', startedAtMs: 900_000 })], 100_000);
    expect(waits.of('a-1')).toMatchObject([{ kind: 'waiting', startedAtMs: 100_000, endedAtMs: 900_000 }]);
    waits.note([], 160_000);
    expect(waits.of('a-1')).toMatchObject([{ startedAtMs: 100_000, endedAtMs: 160_000 }]);
  });
});

const readAt = new Map([
  ['busy', 1_000_000],
  ['idle', 400_000],
]);

function toPort(scannedThroughMs: number) {
  const projects = ['busy', 'idle', 'denied'];
  return {
    progress: () => new Map(projects.map((project) => [project, { countedFromMs: 0, scannedThroughMs }])),
    running: () => [],
    runningReadMs: (project: string) => readAt.get(project),
  };
}

describe('expected-runs/clear-times', () => {
  it('treats all starts up to the last list of running executions as known', () => {
    const clear = createClearTimes();
    clear.note(toPort(1_000_000));
    clear.note(toPort(1_059_999));
    expect(['busy', 'idle'].map(clear.of)).toEqual([Number.NEGATIVE_INFINITY, 400_000]);
    clear.note(toPort(1_060_000));
    expect(['busy', 'idle'].map(clear.of)).toEqual([1_000_000, 400_000]);
  });

  it('treats no start as known without a list of running executions', () => {
    const clear = createClearTimes();
    clear.note(toPort(1_000_000));
    clear.note(toPort(2_000_000));
    expect(clear.of('denied')).toBe(Number.NEGATIVE_INFINITY);
  });

  it('uses each list once executions are read up to a minute later, although newer lists exist', () => {
    const clear = createClearTimes();
    const note = (readAtMs: number, scannedThroughMs: number): void =>
      clear.note({
        progress: () => new Map([['busy', { countedFromMs: 0, scannedThroughMs }]]),
        running: () => [],
        runningReadMs: () => readAtMs,
      });
    for (const second of [0, 20, 40]) note(1_000_000 + second * 1000, 999_000 + second * 1000);
    expect(clear.of('busy')).toBe(Number.NEGATIVE_INFINITY);
    note(1_081_000, 1_080_000);
    expect(clear.of('busy')).toBe(1_020_000);
    note(1_101_000, 1_100_000);
    expect(clear.of('busy')).toBe(1_040_000);
  });

  it('keeps the first eight lists while no ends are read', () => {
    const clear = createClearTimes();
    const note = (readAtMs: number | undefined, scannedThroughMs: number): void =>
      clear.note({
        progress: () => new Map([['busy', { countedFromMs: 0, scannedThroughMs }]]),
        running: () => [someRunning({ id: readAtMs ?? 0, project: 'busy' }), someRunning({ project: 'idle' })],
        runningReadMs: () => readAtMs,
      });
    for (let list = 0; list < 9; list += 1) note(1_000_000, 0);
    for (let list = 0; list < 9; list += 1) note(1_000_000 + list * 1000, 0);
    note(undefined, 1_100_000);
    expect([clear.of('busy'), clear.listed().map(({ id }) => id)]).toEqual([1_007_000, [1_007_000]]);
    // The clock was set back.
    note(undefined, 900_000);
    expect(clear.of('busy')).toBe(900_000);
  });
});
