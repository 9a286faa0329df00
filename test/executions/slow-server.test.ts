import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../support/durations.ts';
import { createTimedScene, startMs } from './timed-scene.ts';

describe('executions on a slow server', () => {
  it('reads a dense hour with few more requests than pages', async () => {
    const rows = 20_000;
    const past = Array.from({ length: rows }, (_, index) => startMs - (index + 1) * 180);
    const coming = Array.from({ length: 400 }, (_, index) => startMs + index * 3000);
    const { rounds, known } = createTimedScene({
      answerMs: () => 1500,
      ends: new Map([['pay', [...past, ...coming]]]),
      settings: { backfillMs: dayMs },
      active: ['pay'],
    });
    const all = await rounds(30);
    const caughtUp = all.findIndex(({ lagSeconds }) => lagSeconds < 30);
    const reads = all.slice(0, caughtUp + 1).reduce((sum, { reads: own }) => sum + own, 0);
    process.stdout.write(`caught up in ${caughtUp + 1} rounds and ${reads} requests for executions\n`);
    expect(all.filter(({ isUp }) => !isUp)).toEqual([]);
    expect(all.filter(({ outcome }) => !outcome.startsWith('success'))).toEqual([]);
    expect(all.filter(({ publishes }) => publishes === 0)).toEqual([]);
    expect(all.at(-1)?.lagSeconds).toBeLessThan(30);
    // A round reads old pages and one new page.
    expect(reads).toBeLessThanOrEqual(1.3 * (rows / 500 + caughtUp + 1));
    expect(await known('pay')).toBe(20_146);
  }, 60_000);

  it('reads a dense hour although the overlap is too long for one round', async () => {
    const times = Array.from({ length: 10_000 }, (_, index) => startMs - index * 180);
    const { rounds, known } = createTimedScene({
      answerMs: () => 1500,
      ends: new Map([['pay', times]]),
      settings: { backfillMs: hourMs, overlapMs: 30 * minuteMs },
      active: ['pay'],
    });
    const all = await rounds(12);
    expect(await known('pay')).toBe(10_000);
    expect(all.at(-1)?.lagSeconds).toBeLessThan(300);
  }, 60_000);

  it('reports no outage if a round uses up the budget', async () => {
    const projects = ['pay', 'stock', 'ship'];
    const ends = projects.map((name, place): [string, number[]] => [
      name,
      Array.from({ length: 30_000 }, (_, index) => startMs - (index + 1) * 2500 - place),
    ]);
    const { rounds, known } = createTimedScene({
      answerMs: () => 5,
      ends: new Map(ends),
      settings: { backfillMs: dayMs },
      active: projects,
      requestsPerSecond: 4,
    });
    const all = await rounds(12);
    expect(all.filter(({ outcome }) => !outcome.startsWith('success'))).toEqual([]);
    expect(all[0]?.outcome).toBe('success 3 projects still catching up');
    expect(all.at(-1)?.outcome).toBe('success');
    expect(all.at(-1)?.lagSeconds).toBeLessThan(1);
    expect(await Promise.all(projects.map(known))).toEqual([30_000, 30_000, 30_000]);
  }, 60_000);

  it('reads every project in its turn with the smallest budget', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const { rounds, asked } = createTimedScene({
      answerMs: () => 5,
      ends: new Map(names.map((name) => [name, []])),
      active: ['p0', 'p1'],
      requestsPerSecond: 0.2,
    });
    const all = await rounds(60);
    const reads = names.map((name) => asked.filter((path) => path.includes(`/${name}/executions?begin`)).length);
    expect(Math.min(...reads)).toBeGreaterThan(10);
    expect(Math.max(...all.map(({ lagSeconds }) => lagSeconds))).toBeLessThan(250);
  }, 60_000);

  it('counts new executions of an idle project with many rows', async () => {
    const past = Array.from({ length: 10_000 }, (_, index) => startMs - (index + 1) * 8000);
    const { rounds, known, change, takeFrom } = createTimedScene({
      answerMs: () => 5,
      ends: new Map([['pay', past]]),
      settings: { backfillMs: dayMs, maxDelayMs: 120_000 },
    });
    await rounds(20);
    expect(await known('pay')).toBe(10_000);
    takeFrom(() => 1500);
    const late = startMs - 5 * hourMs - 1;
    // One execution becomes visible late, and from now on one ends every five minutes.
    change('pay', (ends) => [
      ...ends,
      late,
      ...Array.from({ length: 30 }, (_, index) => startMs + index * 5 * minuteMs),
    ]);
    const all = await rounds(480);
    expect(all.filter(({ outcome }) => !outcome.startsWith('success'))).toEqual([]);
    // The late execution, found by a recount, and one every five minutes for two hours.
    expect(await known('pay')).toBe(10_001 + 25);
    expect(Math.max(...all.map(({ tookMs }) => tookMs))).toBeLessThan(45_000);
  }, 60_000);

  it('spreads the comparison of four deleted days over several rounds', async () => {
    const past = Array.from({ length: 7 * 24 * 6 }, (_, index) => startMs - (index + 1) * 600_000);
    const { rounds, known, change, restart, pass, asked } = createTimedScene({
      answerMs: () => 700,
      ends: new Map([['pay', past]]),
      settings: { backfillMs: 7 * dayMs },
      active: ['pay'],
    });
    await rounds(20);
    expect(await known('pay')).toBe(1007);
    pass(dayMs);
    change('pay', (ends) => [
      ...ends.filter((endMs, index) => endMs > startMs - 2 * dayMs || index % 2 === 0),
      ...Array.from({ length: 400 }, (_, index) => startMs + dayMs + index * minuteMs),
    ]);
    restart();
    const all = await rounds(200);
    expect(all.filter(({ outcome, isUp }) => !isUp || !outcome.startsWith('success'))).toEqual([]);
    expect(all.slice(3).filter(({ lagSeconds }) => lagSeconds > 30)).toEqual([]);
    // Each hour is read once; its total is requested at least three times.
    expect(asked.filter((path) => path.includes('max=1')).length).toBeGreaterThan(250);
    expect(await known('pay')).toBe(1007 + 55);
  }, 60_000);

  it('publishes all series before they expire, even if a round takes longer than a minute', async () => {
    const names = Array.from({ length: 250 }, (_, index) => `p${index}`);
    const ends = names.map((name, index): [string, number[]] => [name, [startMs + index * 1000]]);
    const { rounds, publishes } = createTimedScene({ answerMs: () => 800, ends: new Map(ends), active: names });
    const all = await rounds(6);
    expect(Math.max(...all.map(({ tookMs }) => tookMs))).toBeGreaterThan(60_000);
    const gone = publishes.filter(({ atMs }, index) => {
      const before = publishes[index - 1];
      return before !== undefined && before.atMs + before.validForMs < atMs;
    });
    expect(gone).toEqual([]);
    // During this time, values are at most about one interval old.
    const gapsMs = publishes.slice(1).map(({ atMs }, index) => atMs - (publishes[index]?.atMs ?? 0));
    expect(Math.max(...gapsMs)).toBeLessThan(32_000);
  }, 60_000);

  it('removes series three intervals after the last response', async () => {
    const { rounds, publishes } = createTimedScene({ answerMs: () => 5, ends: new Map([['pay', [startMs]]]) });
    await rounds(4);
    expect(publishes.map(({ validForMs }) => validForMs)).toEqual([60_000, 60_000, 60_000, 60_000]);
  });

  it('keeps series for three times the longest expected interval', async () => {
    const { rounds, publishes } = createTimedScene({
      answerMs: () => 8000,
      ends: new Map([['pay', [startMs]]]),
      active: ['pay'],
    });
    await rounds(4);
    // Timers of the test fire only between two answers.
    expect(new Set(publishes.map(({ validForMs }) => validForMs / 3000 - 10))).toEqual(new Set([14.5, 28.5]));
  });

  it('continues at the catch-up limit if the server does not report how many executions are skipped', async () => {
    const past = Array.from({ length: 40 * 24 }, (_, index) => startMs - (index + 1) * hourMs);
    const { rounds, known, told, takeFrom, pass, restart } = createTimedScene({
      answerMs: () => 5,
      ends: new Map([['pay', [...past, ...Array.from({ length: 20 * 24 }, (_, index) => startMs + index * hourMs)]]]),
      active: ['pay'],
    });
    await rounds(2);
    const limitMs = startMs + 8 * dayMs;
    takeFrom((path) => (path.endsWith('max=1') && Number(/begin=(\d+)/.exec(path)?.[1]) < limitMs ? 60_000 : 5));
    pass(15 * dayMs);
    restart();
    const all = await rounds(8);
    expect(all.map(({ lagSeconds }) => Math.round(lagSeconds)).slice(-4)).toEqual([0, 0, 0, 0]);
    expect(await known('pay')).toBe(168);
    expect(told).toEqual([
      'pay: executions that ended before 2026-01-23T12:00:30.000Z were skipped; the server reported only 0 of them',
    ]);
  });

  it('counts skipped executions in small steps', async () => {
    const coming = Array.from({ length: 30 * 24 }, (_, index) => startMs + index * hourMs);
    const { rounds, told, pass, restart } = createTimedScene({
      answerMs: () => 5,
      ends: new Map([['pay', coming]]),
      active: ['pay'],
    });
    await rounds(2);
    pass(29 * dayMs);
    await rounds(1);
    restart();
    await rounds(3);
    expect(told).toEqual([
      'skipped outage 168',
      'skipped outage 168',
      'skipped outage 168',
      'skipped outage 24',
      'pay: 528 executions were skipped because they ended before the catch-up limit',
    ]);
  });
});
