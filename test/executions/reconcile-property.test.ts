import { describe, expect, it } from 'vitest';
import type { Execution } from '../../src/domain/execution.ts';
import type { IdHour } from '../../src/executions/counting/id-hours.ts';
import { type Entry, reconcile } from '../../src/executions/counting/reconcile.ts';
import { dayMs } from '../support/durations.ts';
import { fc } from '../support/property.ts';
import { someRun } from './some-execution.ts';

describe('executions/reconcile', () => {
  it('counts the same for any order and split of rows', () => {
    fc.assert(
      fc.property(calls, run, fc.constantFrom(0, 1), (listed, one, laterMs) => {
        const countedFromMs = toRun(one).endedAtMs + laterMs;
        const ended = listed.flat().filter(({ hasEnd }) => hasEnd);
        const wanted = ended.map(toRun).filter(({ endedAtMs }) => endedAtMs >= countedFromMs);
        expect(countAll(listed, countedFromMs)).toEqual([...new Set(wanted.map(toKey))].sort());
      }),
      { numRuns: 1000 },
    );
  });

  it('counts nothing twice, for any rows', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(anyRow, few), few),
        fc.integer({ min: 0, max: 4 * dayMs }),
        (calls, countedFromMs) => {
          const counted = readAll(calls, countedFromMs);
          for (const { endedAtMs = -1 } of counted) expect(endedAtMs).toBeGreaterThanOrEqual(countedFromMs);
          const twice = counted.filter((one, index) => counted.slice(index + 1).some((other) => isSame(one, other)));
          expect(twice).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('treats starts less than two seconds apart as the same run', () => {
    fc.assert(
      fc.property(apart, fc.boolean(), (apartMs, isOneCall) => {
        const one = toRow({ id: 7, startedAtMs: 100_000, endedAtMs: 200_000 });
        const other = { ...one, startedAtMs: 100_000 + apartMs };
        const counted = readAll(isOneCall ? [[one, other]] : [[one], [other]], 0);
        expect(counted.length).toBe(Math.abs(apartMs) < 2000 ? 1 : 2);
      }),
    );
  });
});

/** The maximum length of lists. */
const few = { maxLength: 6 };

const apart = fc.oneof(fc.integer({ min: -5000, max: 5000 }), fc.constantFrom(-2000, -1999, 1999, 2000));

type Run = Pick<Execution, 'id' | 'startedAtMs'> & { readonly endedAtMs: number };
/** `turn` is the epoch. */
type Named = { readonly id: number; readonly turn: number };
/** A row of a list, with or without milliseconds and end. */
type Listed = Named & { readonly cutMs: number; readonly hasEnd: boolean };

const named = { id: fc.integer({ min: 1, max: 3 }), turn: fc.integer({ min: 0, max: 3 }) };
const run: fc.Arbitrary<Named> = fc.record(named);
const listing: fc.Arbitrary<Listed> = fc.record({ ...named, cutMs: fc.constantFrom(0, 999), hasEnd: fc.boolean() });
const calls = fc.array(fc.array(listing, few), few);

function toRun({ id, turn }: Named): Run {
  const startedAtMs = turn * 100_000 + 999;
  return { id, startedAtMs, endedAtMs: startedAtMs + id * 1000 };
}

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
  const status = fields.endedAtMs === undefined ? 'running' : 'succeeded';
  return { ...someRun({ status, job: undefined, succeededNodes: 1 }), ...fields };
}

function countAll(listed: readonly (readonly Listed[])[], countedFromMs: number): string[] {
  const rows = listed.map((call) =>
    call.map(({ cutMs, hasEnd, ...name }) => {
      const { id, startedAtMs, endedAtMs } = toRun(name);
      return toRow({ id, startedAtMs: startedAtMs - cutMs, endedAtMs: hasEnd ? endedAtMs : undefined });
    }),
  );
  return readAll(rows, countedFromMs).map(toKey).sort();
}

/** The start is in whole seconds, as in some responses. */
function toKey({ id, startedAtMs }: Pick<Execution, 'id' | 'startedAtMs'>): string {
  return `${id} at ${Math.floor(startedAtMs / 1000)} s`;
}

/** Reads the calls in order, each with the ids of earlier calls. */
function readAll(calls: readonly (readonly Execution[])[], countedFromMs: number): Execution[] {
  const known = new Map<number, Entry[]>();
  let ids = new Map<number, IdHour>();
  let epochStartedAtMs = 0;
  const counted: Execution[] = [];
  for (const rows of calls) {
    const isWanted = (): boolean => true;
    const found = reconcile({
      project: 'pay',
      rows,
      known,
      countedFromMs,
      ids,
      seenAtMs: laterMs,
      latestMs: laterMs,
      epochStartedAtMs,
      isWanted,
    });
    for (const entry of found.entries) known.set(entry.id, [...(known.get(entry.id) ?? []), entry]);
    if (found.newEpochAtMs !== undefined) ids = new Map();
    epochStartedAtMs = found.epochStartedAtMs;
    for (const hour of found.idHours) ids.set(hour.hour, hour);
    counted.push(...found.counted);
  }
  return counted;
}

function isSame(one: Execution, other: Execution): boolean {
  return one.id === other.id && Math.abs(one.startedAtMs - other.startedAtMs) < 2000;
}

const laterMs = 1_000_000_000_000;
