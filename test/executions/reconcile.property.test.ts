import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Execution } from '../../src/domain/execution.ts';
import type { IdHour } from '../../src/executions/id-hours.ts';
import { reconcile } from '../../src/executions/reconcile.ts';

describe('executions/reconcile', () => {
  it('counts the same, whatever the order, the repetition and the split of the rows', () => {
    fc.assert(
      fc.property(runsAndCalls, fc.integer({ min: 0, max: 600_000 }), ({ runs, calls }, countedFromMs) => {
        const listed = new Set(
          calls
            .flat()
            .filter(({ hasEnd }) => hasEnd)
            .map(({ run }) => run),
        );
        const expected = runs.filter((run) => listed.has(run) && run.endedAtMs >= countedFromMs).map(toKey);
        expect(countAll(calls, countedFromMs)).toEqual(expected.sort());
      }),
      { numRuns: 500 },
    );
  });

  it('counts nothing that ended before counting began, and nothing twice, of any rows at all', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyRow)), fc.integer({ min: 0, max: 4 * dayMs }), (calls, countedFromMs) => {
        const counted = readAll(calls, countedFromMs);
        for (const { endedAtMs = -1 } of counted) expect(endedAtMs).toBeGreaterThanOrEqual(countedFromMs);
        for (const [index, one] of counted.entries()) {
          const again = counted.slice(index + 1).filter((other) => isSame(one, other));
          expect(again).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('takes starts less than two seconds apart for one run, and others for two', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5000, max: 5000 }), fc.boolean(), (apartMs, isOneCall) => {
        const one = toRow({ id: 7, startedAtMs: 100_000, endedAtMs: 200_000 });
        const other = { ...one, startedAtMs: 100_000 + apartMs };
        const counted = readAll(isOneCall ? [[one, other]] : [[one], [other]], 0);
        expect(counted.length).toBe(Math.abs(apartMs) < 2000 ? 1 : 2);
      }),
    );
  });
});

const dayMs = 86_400_000;

type Run = { readonly id: number; readonly startedAtMs: number; readonly endedAtMs: number };
type Listed = { readonly run: Run; readonly cutMs: number; readonly hasEnd: boolean };

/** Runs of one day that are told apart by their id and start: the same id comes again after ids began again. */
const run: fc.Arbitrary<Run> = fc
  .record({ id: fc.integer({ min: 1, max: 4 }), turn: fc.integer({ min: 0, max: 5 }), tookMs: fc.nat(60_000) })
  .map(({ id, turn, tookMs }) => {
    const startedAtMs = turn * 100_000 + 999;
    return { id, startedAtMs, endedAtMs: startedAtMs + tookMs };
  });

/** Calls that list some of them: in any order, more than once, with their milliseconds or without, before and after they ended. */
const runsAndCalls = fc.uniqueArray(run, { selector: toKey, minLength: 1, maxLength: 12 }).chain((runs) =>
  fc.record({
    runs: fc.constant(runs),
    calls: fc.array(
      fc.array(fc.record({ run: fc.constantFrom(...runs), cutMs: fc.constantFrom(0, 999), hasEnd: fc.boolean() })),
    ),
  }),
);

const anyRow: fc.Arbitrary<Execution> = fc
  .record({
    id: fc.integer({ min: 1, max: 5 }),
    startedAtMs: fc.integer({ min: 0, max: 4 * dayMs }),
    tookMs: fc.option(fc.integer({ min: -1000, max: 60_000 })),
    type: fc.constantFrom('user', 'scheduled', 'user-scheduled'),
  })
  .map(({ tookMs, startedAtMs, ...rest }) =>
    toRow({ ...rest, startedAtMs, endedAtMs: tookMs === null ? undefined : startedAtMs + tookMs }),
  );

function toRow(fields: Pick<Execution, 'id' | 'startedAtMs' | 'endedAtMs'> & Partial<Execution>): Execution {
  return {
    status: fields.endedAtMs === undefined ? 'running' : 'succeeded',
    customStatus: undefined,
    project: 'pay',
    job: undefined,
    isJobDeleted: false,
    type: 'user',
    succeededNodes: 1,
    failedNodes: [],
    ...fields,
  };
}

function countAll(calls: readonly (readonly Listed[])[], countedFromMs: number): string[] {
  const rows = calls.map((call) =>
    call.map(({ run: { id, startedAtMs, endedAtMs }, cutMs, hasEnd }) =>
      toRow({ id, startedAtMs: startedAtMs - cutMs, endedAtMs: hasEnd ? endedAtMs : undefined }),
    ),
  );
  return readAll(rows, countedFromMs)
    .map(({ id, startedAtMs }) => toKey({ id, startedAtMs }))
    .sort();
}

/** Whole seconds, as some answers have them. */
function toKey({ id, startedAtMs }: Pick<Run, 'id' | 'startedAtMs'>): string {
  return `${id} at ${Math.floor(startedAtMs / 1000)} s`;
}

/** One call after the other, each with all that is known since the one before. */
function readAll(calls: readonly (readonly Execution[])[], countedFromMs: number): Execution[] {
  const known = new Map<number, number[]>();
  let ids = new Map<number, IdHour>();
  let epochStartedAtMs = 0;
  const counted: Execution[] = [];
  for (const rows of calls) {
    const isWanted = (): boolean => true;
    const found = reconcile({ project: 'pay', rows, known, countedFromMs, ids, epochStartedAtMs, isWanted });
    for (const { id, startedAtMs } of found.entries) known.set(id, [...(known.get(id) ?? []), startedAtMs]);
    if (found.newEpochAtMs !== undefined) {
      ids = new Map();
      epochStartedAtMs = found.newEpochAtMs;
    }
    for (const hour of found.idHours) ids.set(hour.hour, hour);
    counted.push(...found.counted);
  }
  return counted;
}

function isSame(one: Execution, other: Execution): boolean {
  return one.id === other.id && Math.abs(one.startedAtMs - other.startedAtMs) < 2000;
}
