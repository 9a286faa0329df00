import { describe, expect, it } from 'vitest';
import { createSharedGap } from '../../src/schedule/request-gap.ts';
import { fakeClock } from '../support/fake-clock.ts';

function setUp() {
  let nowMs = 0;
  const waits: number[] = [];
  const after = (ms: number, run: () => void): (() => void) => {
    waits.push(ms);
    run();
    return () => {};
  };
  const turns = createSharedGap({ clock: fakeClock({ ticks: () => nowMs, after }), gapMs: 200 });
  const later = (ms: number): void => {
    nowMs += ms;
  };
  return { turns, waits, later, signal: new AbortController().signal };
}

describe('schedule/request-gap, shared', () => {
  it('gives simultaneous callers one gap after the other', async () => {
    const { turns, waits, signal } = setUp();
    await Promise.all([turns.take(signal), turns.take(signal), turns.take(signal)]);
    expect(waits).toEqual([200, 400]);
  });

  it('saves no gaps while there are no callers', async () => {
    const { turns, waits, later, signal } = setUp();
    await turns.take(signal);
    later(5000);
    await turns.take(signal);
    await turns.take(signal);
    expect(waits).toEqual([200]);
  });
});
