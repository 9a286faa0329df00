import { expect, it } from 'vitest';
import { createSelection } from '../../../src/tracing/deliver/selection.ts';
import { makeTrace } from './made-traces.ts';

const one = makeTrace(1);
const other = makeTrace(2);

it('gives up a trace that was lost, but not one refused by a busy trace backend, even if others are often delivered', () => {
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

it('rests if the only trace left was lost, and a person has dropped it since', async () => {
  const { next, noteFault } = createSelection({
    spool: { next: async () => [] },
    gathering: { maxBytes: 1000, maxTraces: 10 },
    signal: 'traces',
    clock: { ticks: () => 0, random: () => 0 },
  });
  const lost = { kind: 'wait', isLost: true, reason: 'reset', askedMs: undefined } as const;
  for (let times = 0; times < 10 && !noteFault([one], lost); times += 1);
  expect(await next(false)).toEqual({ traces: [], againInMs: 0 });
  expect(await next(false)).toEqual({ traces: [], againInMs: 30_000 });
});
