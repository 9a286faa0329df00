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

  it('ignores the usual lateness, and never grows beyond half an hour', () => {
    const overlap = createOverlap(120_000);
    overlap.noteLateness(60_000, 1000);
    expect(overlap.ms(1000)).toBe(120_000);
    overlap.noteLateness(86_400_000, 1000);
    expect(overlap.ms(1000)).toBe(1_800_000);
  });

  it('doubles, at most once in a round, if a recount finds executions that all rounds missed', () => {
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

  it('reaches beyond the present until a clock that was set back shows its earlier time again', () => {
    const overlap = createOverlap(120_000);
    expect(overlap.untilMs(1000)).toBe(1000);
    overlap.noteReached(600_000);
    overlap.noteReached(500_000);
    expect(overlap.untilMs(599_999)).toBe(600_000);
    expect(overlap.untilMs(600_001)).toBe(600_001);
  });

  it('reaches a month beyond the present if the clock may have been set ahead and back while nobody read it', () => {
    const monthMs = 32 * 86_400_000;
    const overlap = createOverlap(120_000, { isPastUnknown: true });
    expect(overlap.untilMs(1000)).toBe(monthMs + 1000);
    expect(overlap.untilMs(monthMs + 1001)).toBe(monthMs + 1001);
    expect(overlap.reachedMs(1000)).toBeUndefined();
    overlap.noteUnseen();
    expect(overlap.untilMs(90_000_000)).toBe(monthMs + 90_000_000);
  });

  it('reaches far enough after a clock was days ahead, even if the clock could not be read for a while', () => {
    const overlap = createOverlap(120_000);
    overlap.noteReached(40 * 86_400_000);
    overlap.noteUnseen();
    expect(overlap.untilMs(1000)).toBe(41 * 86_400_000);
  });

  it('reaches a month beyond the present after an absence, even if the clock is also slightly behind the last read', () => {
    const overlap = createOverlap(120_000, { isPastUnknown: true });
    overlap.noteReached(600_000);
    expect(overlap.untilMs(1000)).toBe(32 * 86_400_000 + 1000);
    const ofCluster = createOverlap(120_000, { isPastUnknown: true });
    ofCluster.noteClocks([1000, 61_000], 1000);
    expect(ofCluster.untilMs(1000)).toBe(32 * 86_400_000 + 1000);
  });

  it('reaches a day beyond the time that a fast clock had reached, after a restart', () => {
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

  it('reaches beyond the present by as much as the clock of a member is ahead, until the next round', () => {
    const overlap = createOverlap(120_000);
    overlap.noteClocks([5_000_000, 5_030_000], 5_000_000);
    expect(overlap.untilMs(5_000_000)).toBe(5_000_000);
    overlap.noteClocks([5_000_000, 5_600_000], 5_000_000);
    expect(overlap.untilMs(5_000_000)).toBe(5_720_000);
  });

  it('keeps the largest lateness that was observed', () => {
    const overlap = createOverlap(120_000);
    overlap.noteClocks([0, 600_000], 1000);
    overlap.noteLateness(100_000, 2000);
    expect(overlap.ms(2000)).toBe(720_000);
  });
});
