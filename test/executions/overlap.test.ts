import { describe, expect, it } from 'vitest';
import { createOverlap } from '../../src/executions/reading/overlap.ts';

describe('executions/overlap', () => {
  it('equals the configured overlap by default', () => {
    expect(createOverlap(120_000).ms(0)).toBe(120_000);
  });

  it('grows to twice the observed lateness, for a day', () => {
    const overlap = createOverlap(120_000);
    overlap.noteLateness(300_000, 1000);
    expect(overlap.ms(1000)).toBe(600_000);
    expect(overlap.ms(86_400_999)).toBe(600_000);
    expect(overlap.ms(86_401_000)).toBe(120_000);
  });

  it('never grows beyond half an hour', () => {
    const overlap = createOverlap(120_000);
    overlap.noteLateness(60_000, 1000);
    expect(overlap.ms(1000)).toBe(120_000);
    overlap.noteLateness(86_400_000, 1000);
    expect(overlap.ms(1000)).toBe(1_800_000);
  });

  it('doubles if a recount finds missed executions', () => {
    const overlap = createOverlap(120_000);
    overlap.noteMissed(1000);
    overlap.noteMissed(1000);
    expect(overlap.ms(1000)).toBe(240_000);
    overlap.noteMissed(2000);
    expect(overlap.ms(2000)).toBe(480_000);
    for (const nowMs of [3000, 4000, 5000]) overlap.noteMissed(nowMs);
    expect(overlap.ms(5000)).toBe(1_800_000);
    expect(overlap.ms(86_405_000)).toBe(120_000);
  });

  it('reaches into the future after a clock was set back', () => {
    const overlap = createOverlap(120_000);
    expect(overlap.untilMs(1000)).toBe(1000);
    overlap.noteReached(600_000);
    overlap.noteReached(500_000);
    expect(overlap.untilMs(599_999)).toBe(600_000);
    expect(overlap.untilMs(600_001)).toBe(600_001);
  });

  it('reaches a month into the future if the clock was not observed', () => {
    const monthMs = 32 * 86_400_000;
    const overlap = createOverlap(120_000, { isPastUnknown: true });
    expect(overlap.untilMs(1000)).toBe(monthMs + 1000);
    expect(overlap.untilMs(monthMs + 1001)).toBe(monthMs + 1001);
    expect(overlap.reachedMs(1000)).toBeUndefined();
    overlap.noteUnseen();
    expect(overlap.untilMs(90_000_000)).toBe(monthMs + 90_000_000);
  });

  it('reaches far enough after a clock was days ahead', () => {
    const overlap = createOverlap(120_000);
    overlap.noteReached(40 * 86_400_000);
    overlap.noteUnseen();
    expect(overlap.untilMs(1000)).toBe(41 * 86_400_000);
  });

  it('reaches a month into the future after an absence', () => {
    const overlap = createOverlap(120_000, { isPastUnknown: true });
    overlap.noteReached(600_000);
    expect(overlap.untilMs(1000)).toBe(32 * 86_400_000 + 1000);
    const ofCluster = createOverlap(120_000, { isPastUnknown: true });
    ofCluster.noteClocks([1000, 61_000], 1000);
    expect(ofCluster.untilMs(1000)).toBe(32 * 86_400_000 + 1000);
  });

  it('reaches a day beyond the time of a fast clock after a restart', () => {
    const overlap = createOverlap(120_000);
    overlap.noteReached(3 * 86_400_000);
    expect(overlap.reachedMs(1000)).toBe(3 * 86_400_000);
    expect(overlap.reachedMs(2 * 86_400_000)).toBeUndefined();
    const next = createOverlap(120_000, { isPastUnknown: true, reachedMs: 40 * 86_400_000 });
    expect(next.untilMs(600_000)).toBe(41 * 86_400_000);
  });

  it('grows by the difference between the clocks of members', () => {
    const overlap = createOverlap(120_000);
    overlap.noteClocks([5_000_000, 5_030_000], 1000);
    expect(overlap.ms(1000)).toBe(120_000);
    overlap.noteClocks([5_000_000, 5_600_000], 1000);
    expect(overlap.ms(1000)).toBe(720_000);
  });

  it('reaches as far into the future as the clock of a member', () => {
    const overlap = createOverlap(120_000);
    overlap.noteClocks([5_000_000, 5_030_000], 5_000_000);
    expect(overlap.untilMs(5_000_000)).toBe(5_000_000);
    overlap.noteClocks([5_000_000, 5_600_000], 5_000_000);
    expect(overlap.untilMs(5_000_000)).toBe(5_720_000);
  });

  it('keeps the largest observed lateness', () => {
    const overlap = createOverlap(120_000);
    overlap.noteClocks([0, 600_000], 1000);
    overlap.noteLateness(100_000, 2000);
    expect(overlap.ms(2000)).toBe(720_000);
  });

  it('computes how much time the clock skipped', () => {
    const overlap = createOverlap(120_000);
    expect(overlap.leaptMs(0)).toBe(0);
    overlap.noteLeap({ beginMs: 100, endMs: 400 });
    expect([50, 100, 150, 399, 400, 500].map(overlap.leaptMs)).toEqual([300, 300, 250, 1, 0, 0]);
  });
});
