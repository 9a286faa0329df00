import { describe, expect, it } from 'vitest';
import { createBatchSize, createSelection } from '../../../src/tracing/deliver/selection.ts';
import { makeTrace } from './made-traces.ts';

const one = makeTrace(1);
const other = makeTrace(2);

it('drops lost traces, but none that a busy backend refused', () => {
  const spool = { next: async () => [] };
  const clock = { ticks: () => 0, random: () => 1 };
  const { noteFault, notePassed } = createSelection({
    spool,
    gathering: { maxBytes: 1000, maxTraces: 10 },
    signal: 'traces',
    clock,
  });
  const lose = (): boolean => noteFault([one], { kind: 'wait', isLost: true, reason: 'reset', askedMs: undefined });
  for (let times = 0; times < 10 && !lose(); times += 1);
  for (let times = 0; times < 30; times += 1) {
    noteFault([one], { kind: 'wait', isLost: false, reason: 'busy', askedMs: undefined });
    expect(notePassed([other])).toBeUndefined();
  }
  const givenUp = Array.from({ length: 10 }, () => {
    lose();
    return notePassed([other])?.executionId;
  });
  expect(givenUp.filter((id) => id !== undefined)).toEqual(['1']);
});

it('has nothing to send after a person dropped the last trace', async () => {
  const { next, noteFault } = createSelection({
    spool: { next: async () => [] },
    gathering: { maxBytes: 1000, maxTraces: 10 },
    signal: 'traces',
    clock: { ticks: () => 0, random: () => 0 },
  });
  const lost = { kind: 'wait', isLost: true, reason: 'reset', askedMs: undefined } as const;
  for (let times = 0; times < 10 && !noteFault([one], lost); times += 1);
  expect(await next(false)).toEqual({ traces: [], againInMs: 0 });
  expect(await next(false)).toEqual({ traces: [], againInMs: 30_000, isEmpty: true });
});

const full = 1_048_576;

/** Returns the sizes of requests through a gateway with a limit. */
function play(cap: number, requests: number): number[] {
  const size = createBatchSize(full);
  return Array.from({ length: requests }, () => {
    const tried = size.maxBytes();
    if (tried <= cap) size.passed();
    else if (size.lost()) size.shrinkFrom(tried);
    return tried / 1024;
  });
}

describe('tracing/deliver/batch-size', () => {
  it('sends the maximum size while all requests are delivered', () => {
    expect(play(full, 4)).toEqual([1024, 1024, 1024, 1024]);
  });

  it('halves the size after several losses', () => {
    expect(play(200_000, 30).join(' ')).toBe(
      '1024 1024 1024 1024 1024 512 256 128 256 128 128 256 128 128 128 128 ' +
        '256 128 128 128 128 128 128 128 128 256 128 128 128 128',
    );
  });

  it('sends requests of full size soon after an outage, until several are lost', () => {
    const size = createBatchSize(full);
    for (let tries = 0; tries < 14; tries += 1) if (size.lost()) size.shrinkFrom(size.maxBytes());
    expect(size.maxBytes()).toBe(1024);
    for (let passes = 0; passes < 10; passes += 1) size.passed();
    expect(size.maxBytes()).toBe(full);
    size.passed();
    expect([1, 2, 3, 4, 5].map(() => size.lost())).toEqual([false, false, false, false, true]);
  });

  it('starts below the size of the lost request, with at least one trace', () => {
    const size = createBatchSize(full);
    size.shrinkFrom(300);
    expect(size.maxBytes()).toBe(150);
    size.shrinkFrom(1);
    expect(size.maxBytes()).toBe(1);
  });
});
