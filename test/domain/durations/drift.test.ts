import { describe, expect, it } from 'vitest';
import { addDuration, type Drift, toCompact, toShiftRatio } from '../../../src/domain/durations/drift.ts';
import { createDraw, shapes, simulate } from './drift-shapes.ts';

const startMs = Date.UTC(2026, 0, 5);
const hourMs = 3_600_000;

/** Adds runs of these durations in seconds, an hour apart. */
function play(seconds: readonly number[], before?: Drift, everyMs = hourMs): Drift | undefined {
  let drift = before;
  let endMs = before === undefined ? startMs : before.lastMinute * 60_000 + everyMs;
  for (const each of seconds) {
    drift = addDuration(drift, each * 1000, endMs);
    endMs += everyMs;
  }
  return drift;
}

const usual = Array.from({ length: 60 }, (_, index) => 60 + (index % 7));

describe('domain/durations/drift', () => {
  it('finds a lasting change, its beginning, and both medians', () => {
    const drift = play([...usual, ...usual.slice(0, 8).map((each) => 2 * each)]);
    expect(drift?.shift).toMatchObject({ sinceMs: startMs + 60 * hourMs, beforeMs: 63_000 });
    expect(drift?.shift && toShiftRatio(drift.shift)).toBeCloseTo(2, 0);
  });

  it('ends a change when the durations are as before', () => {
    const slow = play([...usual, ...usual.map((each) => 2 * each)]);
    expect(slow?.shift).toBeDefined();
    expect(play(usual, slow)?.shift).toBeUndefined();
    expect(
      play(
        usual.slice(0, 15).map((each) => 2 * each),
        slow,
        24 * hourMs,
      )?.shift,
    ).toBeUndefined();
  });

  it('finds a job that has become faster', () => {
    const faster = play([...usual, ...usual.slice(0, 12).map((each) => each / 3)])?.shift;
    expect(faster && toShiftRatio(faster)).toBeLessThan(0.4);
    expect(play([...usual, ...usual.map((each) => 1.2 * each)])?.shift).toBeUndefined();
    expect(play([...usual.map((each) => each / 60), ...usual.map((each) => each / 10)])?.shift).toBeUndefined();
  });

  it('finds a large change after few runs', () => {
    const { delays } = simulate('narrow lognormal', { runs: 0, tries: 40, factor: 1.5, seed: 7 });
    expect(delays[20]).toBeLessThanOrEqual(8);
    expect(delays[36]).toBeLessThanOrEqual(15);
    const doubled = simulate('narrow lognormal', { runs: 0, tries: 40, factor: 2, seed: 7 });
    expect(doubled.delays[20]).toBeLessThanOrEqual(5);
  });

  it('inserts a run that becomes known late', () => {
    const runs = usual.slice(1);
    let drift: Drift | undefined;
    for (const index of runs.keys()) {
      const hour = index === 0 ? 0 : index % 2 === 1 ? index + 1 : index - 1;
      drift = addDuration(drift, (runs[hour] ?? 0) * 1000, startMs + hour * hourMs);
    }
    expect([drift?.tenths, drift?.apart, drift?.lastMinute]).toEqual(
      [play(runs)].flatMap((inOrder) => [inOrder?.tenths, inOrder?.apart, inOrder?.lastMinute]),
    );
    expect(addDuration(drift, 1000, startMs - hourMs)).toBe(drift);
    const full = play(Array.from({ length: 250 }, () => 60));
    expect(full && addDuration(full, 5000, startMs + 200.5 * hourMs).tenths.length).toBe(200);
  });

  it('needs about a kilobyte for the durations of a job', () => {
    const drift = play(Array.from({ length: 500 }, (_, index) => 600 + (index % 70)));
    const kept = drift && toCompact(JSON.parse(JSON.stringify(drift)) as Drift<number[]>);
    expect(kept).toEqual(drift);
    expect([drift?.tenths.byteLength, drift?.apart.byteLength]).toEqual([400, 400]);
    expect(play([700], kept)).toEqual(play([700], drift));
  });

  it('keeps long durations exactly', () => {
    const drift = play([7, 10_000, 400_000, 5e8], undefined, 50 * 24 * hourMs);
    expect([[...(drift?.tenths ?? [])], [...(drift?.apart ?? [])]]).toEqual([
      [70, 100_000, 4_000_000, 2 ** 32 - 1],
      [0, 72_000, 72_000, 72_000],
    ]);
  });

  it('rarely reports unchanged durations (part of `npm run bench drift`)', () => {
    let all = 0;
    for (const shape of Object.keys(shapes)) {
      const { falseAlarms, delays } = simulate(shape, { runs: 1500, tries: 3, factor: 3, seed: 1 });
      all += falseAlarms;
      expect(Math.max(...delays)).toBeLessThan(80);
    }
    expect(all).toBeLessThanOrEqual(2);
    expect(createDraw(1)()).toBe(createDraw(1)());
  });
});
