import { describe, expect, it } from 'vitest';
import {
  type Causes,
  createCauses,
  createLookup,
  isSoundCause,
  maxCauseLength,
  maxCauses,
} from '../../../src/tracing/enrich/causes.ts';

type Documents = Parameters<Causes['load']>[0];

/** Returns the documents of a ledger after these changes. */
function apply(kept: Documents, changes: Documents): Documents {
  const keys = new Set(changes.map(({ key }) => key));
  return [...kept.filter(({ key }) => !keys.has(key)), ...changes.filter(({ body }) => body !== undefined)];
}

const run = (id: number) => ({ id, startedAtMs: 1000 + id });
const cause = (why: string) => ({ why, facts: [{ name: 'Reason', value: 'NonZeroResultCode' }] });

describe('tracing/enrich/causes', () => {
  it('removes the oldest of too many causes', () => {
    let causes = createCauses();
    let kept: Documents = [];
    for (let id = 1; id <= maxCauses + 20; id += 1) {
      if (id % 100 === 0) {
        causes = createCauses();
        causes.load(kept.toReversed());
      }
      const { documents, done } = causes.note(run(id), cause(`because of ${id}`));
      kept = apply(kept, documents);
      done();
    }
    expect(kept.length).toBe(maxCauses);
    expect(causes.of(run(20))).toBeUndefined();
    expect(causes.of(run(21))).toEqual(cause('because of 21'));
    expect(causes.of({ ...run(21), startedAtMs: 5 })).toBeUndefined();
  });

  it('stores no cause of a success', () => {
    const causes = createCauses();
    expect(causes.note(run(1), undefined).documents).toEqual([]);
    expect(causes.note(run(2), cause('x'.repeat(maxCauseLength))).documents).toEqual([]);
    causes.note(run(3), cause('because'));
    expect(causes.of(run(3))).toBeUndefined();
  });

  it('returns the failure of a job that ended last', () => {
    const causes = createCauses();
    for (const [id, job, endedAtMs] of [
      [1, 'pay/settle', 9000],
      [2, 'pay/settle', 8000],
      [3, 'pay/settle', 8500],
      [4, 'pay/settle 2', 9999],
    ] as const)
      causes.note(run(id), { ...cause('x'), failure: { id, job, endedAtMs, failureClass: 'work' } }).done();
    expect(causes.lastFailureOf('pay/settle')?.id).toBe(1);
    expect(causes.lastFailureOf('pay')).toBeUndefined();
    expect(causes.failureOf(3)).toMatchObject({ startedAtMs: 1003, failure: { id: 3 } });
    expect(causes.failureOf(5)).toBeUndefined();
  });

  it('counts again at each lookup how often a job failed in this way', () => {
    const causes = createCauses();
    const seen = { fingerprint: 'v1:0', firstMs: 9000, count: 1 };
    const failure = { id: 1, job: 'pay/settle', endedAtMs: 9000, failureClass: 'work', seen } as const;
    causes.note(run(1), { ...cause('x'), failure }).done();
    const lookup = createLookup(causes, { refresh: (_job, before) => ({ ...before, count: 2 }) });
    expect(lookup.causeOf(run(1))?.failure?.seen?.count).toBe(2);
    expect(lookup.lastFailureOf('pay/settle')?.seen?.count).toBe(2);
  });

  it('checks only documents of causes', () => {
    expect(isSoundCause('pending-trace', undefined)).toBe(true);
    expect(isSoundCause('cause', cause('because'))).toBe(true);
    expect(isSoundCause('cause', { why: 1 })).toBe(false);
  });
});
