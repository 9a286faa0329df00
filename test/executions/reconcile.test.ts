import { describe, expect, it } from 'vitest';
import type { Finished } from '../../src/domain/execution.ts';
import type { IdHour } from '../../src/executions/counting/id-hours.ts';
import {
  type KnownRuns,
  type Reconciled,
  type ReconcileInput,
  reconcile,
} from '../../src/executions/counting/reconcile.ts';
import { hourMs } from '../support/durations.ts';
import { someRun, someRunning } from './some-execution.ts';

describe('executions/reconcile', () => {
  it('counts only rows with an end', () => {
    const rows = [
      someRun({ id: 1, status: 'scheduled' }),
      someRunning({ id: 2 }),
      someRunning({ id: 3, status: 'failed' }),
    ];
    expect(counted({ rows })).toEqual([1]);
  });

  it('counts a repeated row once', () => {
    const rows = [
      someRun({ id: 1, startedAtMs: 100_999 }),
      someRun({ id: 1, startedAtMs: 100_000 }),
      someRun({ id: 2, startedAtMs: 200_000 }),
    ];
    expect(counted({ rows, known: knownAs([2, 200_999]) })).toEqual([1]);
  });

  it('treats starts two seconds apart as two runs of one id', () => {
    const rows = [someRun({ id: 1, startedAtMs: 100_000 }), someRun({ id: 1, startedAtMs: 102_000 })];
    expect(counted({ rows })).toEqual([1, 1]);
  });

  it.each([
    ['knows a run again that a change of daylight saving time moved by an hour', Date.UTC(2026, 2, 27), 0],
    ['counts a run of another database exactly an hour later', Date.UTC(2026, 6, 10), 1],
  ])('%s', (_what, dayMs, expected) => {
    const hour = dayMs / hourMs;
    const ids = hours([hour, 50, 60]);
    const seenAtMs = dayMs + 2 * hourMs;
    const again = { rows: [at({ id: 55, hour: hour + 1 })], known: knownAs([55, dayMs]), ids, seenAtMs };
    const found = reconcile(input({ ...again, latestMs: seenAtMs }));
    expect(found.counted).toHaveLength(expected);
    expect(found.newEpochAtMs).toBe(expected === 0 ? undefined : dayMs + hourMs);
  });

  it('does not count or store runs that ended before counting began', () => {
    const rows = [someRun({ id: 1, endedAtMs: 199_999 }), someRun({ id: 2, endedAtMs: 200_000 })];
    const found = reconcile(input({ rows, countedFromMs: 200_000 }));
    expect(found.counted.map(({ id }) => id)).toEqual([2]);
    expect(found.entries).toEqual([{ id: 2, startedAtMs: 100_000, endedAtMs: 200_000 }]);
  });

  it('counts a run with a new id from before the start of counting', () => {
    const rows = [6, 7, 8].map((id) => someRun({ id, endedAtMs: 199_999 }));
    const earlier = { untilMs: 200_000, throughId: 7 };
    expect(counted({ rows, countedFromMs: 100_000, earlier })).toEqual([8]);
    expect(counted({ rows, countedFromMs: 100_000, earlier: { ...earlier, untilMs: 199_999 } })).toEqual([6, 7, 8]);
  });

  it('stores the ids of excluded jobs without counting them', () => {
    const found = reconcile(input({ rows: [someRun({ id: 1 })], isWanted: ({ name }) => name !== 'settle' }));
    expect(found.counted).toEqual([]);
    expect(found.entries).toEqual([{ id: 1, startedAtMs: 100_000, endedAtMs: 105_000 }]);
  });

  it('starts no epoch for an earlier id after the clock was set back', () => {
    const again = { rows: [at({ id: 7, hour: 9 })], known: knownAs([7, 8 * hourMs]), epochStartedAtMs: 5 * hourMs };
    expect(reconcile(input(again)).newEpochAtMs).toBe(9 * hourMs);
    expect(reconcile(input({ ...again, formerThroughMs: 8 * hourMs - 1 })).newEpochAtMs).toBe(9 * hourMs);
    expect(reconcile(input({ ...again, formerThroughMs: 8 * hourMs })).newEpochAtMs).toBeUndefined();
    const last = { ...again, formerThroughMs: 8 * hourMs, formerThroughId: 7 };
    expect(reconcile(input(last)).newEpochAtMs).toBeUndefined();
    // The id is higher than all ids of the previous epoch.
    expect(reconcile(input({ ...again, formerThroughMs: 8 * hourMs, formerThroughId: 6 })).newEpochAtMs).toBe(
      9 * hourMs,
    );
    // The previous epoch has this id too, so the current epoch has used it.
    const twice = knownAs([7, 4 * hourMs], [7, 8 * hourMs]);
    const third = { ...again, known: twice, formerThroughMs: 8 * hourMs, formerEpochs: 1 };
    expect(reconcile(input(third)).newEpochAtMs).toBe(9 * hourMs);
    expect(reconcile(input({ ...third, formerEpochs: 2 })).newEpochAtMs).toBeUndefined();
    // The execution was aborted before its start.
    const known = new Map([[7, [{ startedAtMs: 80 * hourMs, endedAtMs: 8 * hourMs }]]]);
    expect(reconcile(input({ ...again, known, formerThroughMs: 8 * hourMs })).newEpochAtMs).toBeUndefined();
  });

  it('counts imported rows separately', () => {
    const found = reconcile(input({ rows: [at({ id: 70, hour: 10 })], ids: hours([100, 50, 60]) }));
    expect(found).toMatchObject({ imported: 1, counted: [], newEpochAtMs: undefined, idHours: [] });
    expect(found.entries).toEqual([{ id: 70, startedAtMs: 36_000_000, endedAtMs: 36_005_000 }]);
  });

  it('recognizes an import while the server clock is days behind', () => {
    const rows = [at({ id: 70, hour: 60 }), at({ id: 71, hour: 90 }), at({ id: 72, hour: 102 })];
    const found = reconcile(input({ rows, ids: hours([100, 50, 60]), seenAtMs: 50 * hourMs, latestMs: 101 * hourMs }));
    expect(found.imported).toBe(1);
    expect(found.counted.map(({ id }) => id)).toEqual([71, 72]);
    // The run with the smaller id is in the same response.
    const atOnce = [...rows, at({ id: 50, hour: 100 })];
    expect(counted({ rows: atOnce, seenAtMs: 50 * hourMs, latestMs: 101 * hourMs })).toEqual([71, 72, 50]);
  });

  it('assigns the runs of a member whose clock is days behind to the current epoch', () => {
    const known = { ids: hours([100, 50, 60]), slowByMs: [90 * hourMs], epochStartedAtMs: 99 * hourMs };
    const rows = [at({ id: 61, hour: 11 }), at({ id: 62, hour: 40 })];
    const found = reconcile(input({ rows, ...known, seenAtMs: 101.5 * hourMs }));
    expect(found).toMatchObject({ imported: 1, newEpochAtMs: undefined, epochStartedAtMs: 99 * hourMs, idHours: [] });
    expect(found.counted.map(({ id }) => id)).toEqual([61]);
    expect(found.ofEpochBefore.size).toBe(0);
  });

  it('does not treat a one-time run as imported', () => {
    const rows = [
      { ...at({ id: 70, hour: 10 }), type: 'user-scheduled' },
      { ...at({ id: 3, hour: 200 }), status: 'scheduled' as const },
    ];
    const found = reconcile(input({ rows, ids: hours([100, 50, 60]) }));
    expect(found).toMatchObject({ imported: 0, newEpochAtMs: undefined, idHours: [] });
    expect(found.counted.map(({ id }) => id)).toEqual([70, 3]);
  });

  it('starts a new epoch when a known id has another start', () => {
    const known = knownAs([55, 360_000_000]);
    const found = reconcile(
      input({ rows: [at({ id: 55, hour: 102 })], known, ids: hours([100, 50, 60]), seenAtMs: 102 * hourMs }),
    );
    expect(found.newEpochAtMs).toBe(367_200_000);
    expect(found.counted).toHaveLength(1);
    expect(found.idHours).toEqual([{ hour: 102, leastId: 55, greatestId: 55 }]);
  });

  it('starts a new epoch if a fast clock gives a known id another start', () => {
    const known = knownAs([55, 360_000_000]);
    const rows = [at({ id: 55, hour: 900 })];
    const given = { rows, known, ids: hours([100, 50, 60]), seenAtMs: 102 * hourMs, latestMs: 102 * hourMs };
    expect(reconcile(input(given))).toMatchObject({ newEpochAtMs: 102 * hourMs, idHours: [] });
  });

  it('starts no new epoch for a repeated id of an earlier epoch', () => {
    const known = knownAs([55, 360_000_000]);
    const rows = [at({ id: 55, hour: 102 })];
    expect(reconcile(input({ rows, known, epochStartedAtMs: 101 * hourMs })).newEpochAtMs).toBeUndefined();
  });

  it('recognizes the first id of an epoch after a later id', () => {
    const old = knownAs([1, 1000]);
    const first = reconcile(input({ rows: [at({ id: 1, hour: 101 })], known: old, epochStartedAtMs: 102 * hourMs }));
    expect(first).toMatchObject({ newEpochAtMs: undefined, epochStartedAtMs: 101 * hourMs });

    const known = knownAs([1, 1000], [1, 101 * hourMs]);
    const again = at({ id: 1, hour: 103 });
    expect(reconcile(input({ rows: [again], known, epochStartedAtMs: first.epochStartedAtMs }))).toMatchObject({
      newEpochAtMs: 103 * hourMs,
      epochStartedAtMs: 103 * hourMs,
    });
  });

  it('starts a new epoch when a new run has a low id', () => {
    const rows = [at({ id: 4, hour: 131 }), at({ id: 3, hour: 130 })];
    const found = reconcile(input({ rows, ids: hours([100, 50, 60]), seenAtMs: 131 * hourMs }));
    expect(found.newEpochAtMs).toBe(468_000_000);
    expect(found.idHours).toEqual([
      { hour: 131, leastId: 4, greatestId: 4 },
      { hour: 130, leastId: 3 },
    ]);
  });

  it('starts no new epoch for imported executions', () => {
    const seenAtMs = 130 * hourMs;
    const first = reconcile(input({ rows: [at({ id: 70, hour: 107 })], ids: hours([100, 50, 60]), seenAtMs }));
    expect(first).toMatchObject({ imported: 0, newEpochAtMs: undefined });
    const ids = new Map([...hours([100, 50, 60]), ...first.idHours.map((hour) => [hour.hour, hour] as const)]);
    const rows = [at({ id: 65, hour: 129 }), someRun({ id: 61, startedAtMs: 132 * hourMs, endedAtMs: 140 * hourMs })];
    expect(reconcile(input({ rows, ids, seenAtMs: 140 * hourMs })).newEpochAtMs).toBeUndefined();
    const again = { rows: [at({ id: 3, hour: 155 })], ids, seenAtMs: 155 * hourMs };
    expect(reconcile(input(again)).newEpochAtMs).toBe(155 * hourMs);
  });

  it('recognizes a one-time run that was seen waiting', () => {
    const rows = [{ ...at({ id: 3, hour: 200 }), type: undefined }];
    const ids = hours([100, 50, 60]);
    expect(reconcile(input({ rows, ids })).newEpochAtMs).toBe(720_000_000);
    const found = reconcile(input({ rows, ids, oneTimeIds: new Set([3]) }));
    expect(found).toMatchObject({ newEpochAtMs: undefined, idHours: [] });
    expect(found.counted).toHaveLength(1);
  });

  it('does not compare a run without a start', () => {
    const rows = [{ ...at({ id: 3, hour: 200 }), lacksStart: true }];
    expect(reconcile(input({ rows, ids: hours([100, 50, 60]) }))).toMatchObject({
      newEpochAtMs: undefined,
      idHours: [],
    });
  });

  it('assigns runs from before the start of a new epoch to the previous epoch', () => {
    const rows = [at({ id: 990, hour: 128 }), at({ id: 4, hour: 131 }), at({ id: 3, hour: 130 })];
    const found = reconcile(input({ rows, ids: hours([100, 950, 980]) }));
    expect(found.newEpochAtMs).toBe(130 * hourMs);
    expect([...found.ofEpochBefore].map(({ id }) => id)).toEqual([990]);
  });

  it('assigns a run of a slow clock to the current epoch', () => {
    const rows = [at({ id: 990, hour: 80 }), at({ id: 4, hour: 80 })];
    const given = { rows, known: knownAs([4, 125 * hourMs]), ids: hours([130, 3, 5]), epochStartedAtMs: 130 * hourMs };
    const now = { seenAtMs: 90 * hourMs, latestMs: 131 * hourMs };
    const toBefore = (formerEpochs: number) =>
      [...reconcile(input({ ...given, ...now, formerEpochs })).ofEpochBefore].map(({ id }) => id);
    expect([toBefore(1), toBefore(2)]).toEqual([[990], [990, 4]]);
    // The clock was set back to a time before those runs.
    Object.assign(given, { known: knownAs([4, 135 * hourMs]), formerThroughMs: 135 * hourMs });
    expect(toBefore(1)).toEqual([990]);
  });

  it('finds the epoch of a late run by its id', () => {
    const rows = [at({ id: 990, hour: 128 }), at({ id: 2, hour: 129 }), at({ id: 1, hour: 100 })];
    const found = reconcile(input({ rows, ids: hours([130, 3, 4]), epochStartedAtMs: 130 * hourMs }));
    expect([...found.ofEpochBefore].map(({ id }) => id)).toEqual([990, 1]);
    expect(found.counted).toHaveLength(3);
  });

  it('compares new ids only with the ids of earlier rounds', () => {
    const rows = [at({ id: 60, hour: 100 }), at({ id: 3, hour: 130 })];
    expect(reconcile(input({ rows })).newEpochAtMs).toBeUndefined();
  });

  it.each([
    ['counts on after a run that started days ahead of now', [172, 50, 50]],
    ['sees no new epoch after ids that a clock days ahead dated', [172, 90, 90]],
  ] as const)('%s', (_what, ahead) => {
    const ids = hours([99, 40, 45], ahead);
    const rows = [at({ id: 60, hour: 100 }), at({ id: 61, hour: 101 })];
    const found = reconcile(input({ rows, ids, seenAtMs: 101.5 * hourMs, latestMs: 102 * hourMs }));
    expect(found).toMatchObject({ imported: 0, newEpochAtMs: undefined });
    expect(found.counted).toHaveLength(2);
    expect(found.idHours.map(({ hour }) => hour)).toEqual([100, 101]);
  });

  it('counts a run whose start is days in the future', () => {
    const rows = [someRun({ id: 44, startedAtMs: 172 * hourMs, endedAtMs: 100 * hourMs })];
    const found = reconcile(input({ rows, ids: hours([99, 40, 45]), seenAtMs: 100 * hourMs }));
    expect(found).toMatchObject({ imported: 0, newEpochAtMs: undefined, idHours: [] });
    expect(found.counted).toHaveLength(1);
  });

  it('finds no imports while the server clock is days behind', () => {
    const ids = new Map(hours([171, 70, 75], [172, 76, 79]));
    const note = (rows: readonly Finished[], seenAtMs: number): Reconciled => {
      const found = reconcile(input({ rows, ids, seenAtMs, latestMs: 173 * hourMs }));
      for (const hour of found.idHours) ids.set(hour.hour, hour);
      return found;
    };
    const behind = note([at({ id: 81, hour: 100 })], 100.5 * hourMs);
    // The run started before the clock was set back, and ended with the right clock.
    const longer = note([at({ id: 80, hour: 172 })], 173 * hourMs);
    for (const found of [behind, longer]) {
      expect(found).toMatchObject({ imported: 0, newEpochAtMs: undefined });
      expect(found.counted).toHaveLength(1);
    }
  });

  it('never dates the start of an epoch in the future', () => {
    const given = { epochStartedAtMs: 900 * hourMs, seenAtMs: 100 * hourMs, latestMs: 101 * hourMs };
    expect(reconcile(input({ rows: [at({ id: 60, hour: 99 })], ...given })).epochStartedAtMs).toBe(101 * hourMs);
  });

  it('does not compare runs that started before the epoch', () => {
    const rows = [at({ id: 900, hour: 99 })];
    const found = reconcile(input({ rows, ids: hours([100, 1, 5]), epochStartedAtMs: 100 * hourMs }));
    expect(found).toMatchObject({ imported: 0, newEpochAtMs: undefined, idHours: [] });
    expect(found.counted).toHaveLength(1);
  });
});

function input(given: Partial<ReconcileInput>): ReconcileInput {
  const isWanted = (): boolean => true;
  return {
    project: 'pay',
    rows: [],
    known: new Map(),
    countedFromMs: 0,
    seenAtMs: 1000 * hourMs,
    latestMs: 1000 * hourMs,
    ids: new Map(),
    epochStartedAtMs: 0,
    isWanted,
    ...given,
  };
}

function counted(given: Partial<ReconcileInput>): number[] {
  return reconcile(input(given)).counted.map(({ id }) => id);
}

function at({ id, hour }: { readonly id: number; readonly hour: number }) {
  return someRun({ id, startedAtMs: hour * hourMs, endedAtMs: hour * hourMs + 5000 });
}

/** Known runs of five seconds, by id and start. */
function knownAs(...runs: readonly (readonly [id: number, startedAtMs: number])[]): KnownRuns {
  return Map.groupBy(
    runs.map(([id, startedAtMs]) => ({ id, startedAtMs, endedAtMs: startedAtMs + 5000 })),
    ({ id }) => id,
  );
}

function hours(...known: readonly (readonly [hour: number, leastId: number, greatestId: number])[]) {
  return new Map(known.map(([hour, leastId, greatestId]): [number, IdHour] => [hour, { hour, leastId, greatestId }]));
}
