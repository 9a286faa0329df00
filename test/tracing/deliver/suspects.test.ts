import { describe, expect, it } from 'vitest';
import { createSuspects } from '../../../src/tracing/deliver/suspects.ts';
import { makeTrace } from './made-traces.ts';

const one = makeTrace(1);
const other = makeTrace(2);

describe('tracing/deliver/suspects', () => {
  it('gives up on a trace that was lost ten times', () => {
    const suspects = createSuspects(() => 1);
    const givenUp: unknown[] = [];
    for (let times = 0; times < 10; times += 1) {
      suspects.lost(one, 'c: reset', 0);
      givenUp.push(suspects.otherPassed());
    }
    expect(givenUp.slice(0, 9)).toEqual(Array(9).fill(undefined));
    expect(givenUp[9]).toEqual({
      key: 'prod/1',
      server: 'prod',
      executionId: '1',
      encoding: 'protobuf',
      spans: 3,
      reason: 'c: reset',
    });
    expect(suspects.keys()).toEqual([]);
  });

  it('suspects no trace while other traces are lost too', () => {
    const suspects = createSuspects(() => 1);
    for (let times = 0; times < 100; times += 1) {
      suspects.lost(one, 'c: reset', 0);
      suspects.otherFailed();
      expect(suspects.otherPassed()).toBeUndefined();
    }
    for (let times = 0; times < 100; times += 1) suspects.lost(one, 'c: reset', 0);
    expect(suspects.keys()).toEqual(['prod/1']);
  });

  it('counts a loss once for any number of later deliveries', () => {
    const suspects = createSuspects(() => 1);
    suspects.lost(one, 'c: reset', 0);
    for (let times = 0; times < 100; times += 1) expect(suspects.otherPassed()).toBeUndefined();
  });

  it('tries each trace again after growing waits', () => {
    const suspects = createSuspects(() => 1);
    suspects.lost(one, 'c: reset', 0);
    expect([suspects.due(5000), suspects.next(400), suspects.next(1000)]).toEqual([
      undefined,
      { forMs: 600 },
      { key: 'prod/1' },
    ]);
    suspects.otherPassed();
    expect([suspects.due(999), suspects.due(1000)]).toEqual([undefined, 'prod/1']);
    suspects.lost(one, 'c: reset', 1000);
    suspects.lost(other, 'c: reset', 1500);
    suspects.otherFailed();
    expect([suspects.due(2499), suspects.due(2500), suspects.due(3000)]).toEqual([undefined, 'prod/2', 'prod/1']);
  });

  it('stops waiting after the suspected trace was delivered', () => {
    const suspects = createSuspects(() => 0);
    suspects.lost(one, 'c: reset', 0);
    suspects.lost(other, 'c: reset', 0);
    expect(suspects.due(0)).toBeUndefined();
    suspects.forget('prod/2');
    expect(suspects.due(0)).toBe('prod/1');
  });

  it('remembers at most a thousand traces', () => {
    const suspects = createSuspects(() => 1);
    for (let id = 1; id <= 1001; id += 1) suspects.lost(makeTrace(id), 'c: reset', 0);
    expect(suspects.keys()).toHaveLength(1000);
    suspects.forget('prod/7');
    expect(suspects.keys()).not.toContain('prod/7');
  });
});
