import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/state/ledger.ts';
import { StateError } from '../../src/state/state.ts';
import { dayMs, minuteMs } from '../support/durations.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { type Played, play } from './play.ts';
import { createTimedScene, startMs } from './timed-scene.ts';

async function playOnDisk() {
  const kept = createMemoryLedger();
  const disk = { isFull: false };
  const commit: Ledger['commit'] = (server, change) =>
    disk.isFull ? Promise.reject(new StateError('the disk is full')) : kept.commit(server, change);
  return { disk, ...(await play({ keepBy: () => ({ ...kept, commit }) })) };
}

describe('executions when the clock of the server steps', () => {
  it.each([
    ['while it runs', false],
    ['over a restart', true],
  ])(
    'counts executions after the correction of a clock that was ahead at the first start, %s',
    async (_how, isRestarted) => {
      const { control, finish, counted, rounds, restart } = await play();
      control.setClockSkew(10 * minuteMs);
      await rounds(4);
      finish('pay', { agoMs: -10 * minuteMs });
      await rounds(4);
      control.setClockSkew(0);
      if (isRestarted) restart();
      finish('pay');
      await rounds(12);
      expect(counted()).toEqual(['pay settle succeeded 2']);
    },
  );

  it.each([
    ['while it runs', false],
    ['over a restart', true],
  ])('continues to count after a clock was a month ahead for ten minutes, %s', async (_how, isRestarted) => {
    const { control, finish, counted, rounds, round, restart, lag, ledger } = await play();
    await rounds(2);
    finish('pay');
    await rounds(12);
    control.setClockSkew(30 * dayMs);
    for (let count = 0; count < 40; count += 1) await round();
    control.setClockSkew(0);
    if (isRestarted) restart();
    finish('pay');
    await rounds(12);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    expect(lag()).toBeLessThan(16);
    expect(await toAhead(ledger)).toEqual([]);
  });

  it.each([30 * dayMs, -3 * dayMs])('counts executions while a clock is %i ms wrong', async (offMs) => {
    const { control, finish, counted, rounds, round, restart, told, nowMs, job } = await play();
    await rounds(2);
    for (let count = 0; count < 3; count += 1) finish('pay');
    await rounds(12);
    control.setClockSkew(offMs);
    for (let count = 0; count < 40; count += 1) await round();
    const times = { startedAtMs: nowMs() - 2000, endedAtMs: nowMs(), skewMs: offMs };
    for (let count = 0; count < 3; count += 1) control.addFinished('pay', { jobId: job, ...times });
    for (let count = 0; count < 40; count += 1) await round();
    control.setClockSkew(0);
    for (const isRestarted of [false, true]) {
      if (isRestarted) restart();
      finish('pay');
      await rounds(12);
    }
    expect(counted()).toEqual(['pay settle succeeded 8']);
    expect(told.filter((what) => what.startsWith('imported') || what === 'epoch 2')).toEqual([]);
  });

  it('continues to count after a run with a future start', async () => {
    const { simulator, finish, counted, rounds, restart, nowMs, ledger, told } = await play();
    await rounds(2);
    const ahead = { startedAtMs: nowMs() + 3 * dayMs };
    simulator.control.addFinished('pay', { ...ahead, endedAtMs: nowMs(), status: 'aborted' });
    finish('pay');
    await rounds(2);
    const hour = Math.floor(nowMs() / 3_600_000) + 72;
    const body = JSON.stringify({ hour, leastId: 1, greatestId: 1 });
    await ledger.commit('upstream', { documents: [{ kind: 'id-hour', key: String(hour), body }] });
    restart();
    finish('pay');
    await rounds(12);
    expect(counted()).toEqual(['pay  aborted 1', 'pay settle succeeded 2']);
    expect(told.filter((what) => what.startsWith('imported'))).toEqual([]);
    const hours = (await ledger.load('upstream')).filter(({ kind }) => kind === 'id-hour');
    expect(hours.map(({ key }) => Number(key)).filter((each) => each >= hour)).toEqual([]);
  });

  it.each([
    ['while it runs', false],
    ['over a restart', true],
  ])('counts future-dated executions within a round after the clock was set back, %s', async (_how, isRestarted) => {
    const { control, finish, counted, rounds, restart } = await play();
    await rounds(12);
    control.setClockSkew(10 * minuteMs);
    await rounds(8);
    finish('pay', { agoMs: -10 * minuteMs + 1000 });
    control.setClockSkew(0);
    if (isRestarted) restart();
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts future-dated executions if the clock was corrected during a stop', async () => {
    const { control, finish, counted, rounds, restart, pass } = await play();
    await rounds(12);
    control.setClockSkew(3 * dayMs);
    await rounds(4);
    pass(minuteMs);
    finish('pay', { agoMs: -3 * dayMs + 1000 });
    pass(5 * minuteMs);
    control.setClockSkew(0);
    restart();
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts runs of a member whose clock is days behind', async () => {
    const { control, finish, counted, rounds, round, pass, told, nowMs, restart, imports } = await play();
    await rounds(12);
    pass(4 * dayMs);
    await rounds(12);
    finish('pay');
    await rounds(2);
    control.setClockSkew(-3 * dayMs);
    control.runCommand('pay', 'uptime');
    control.setClockSkew(0);
    await round(1000);
    restart();
    for (const agoMs of [3000, 2000]) {
      const endedAtMs = nowMs() - agoMs;
      control.addFinished('pay', { startedAtMs: endedAtMs - 1000, endedAtMs, skewMs: -3 * dayMs });
      control.addFinished('pay', { startedAtMs: endedAtMs - 1000, endedAtMs, skewMs: -2.5 * dayMs });
    }
    finish('pay');
    await rounds(12);
    pass(25 * 60 * minuteMs);
    await rounds(20);
    expect(counted()).toEqual(['pay settle succeeded 2', 'pay  succeeded 3']);
    expect(told.filter((what) => what.startsWith('imported') || what.startsWith('epoch'))).toEqual(['imported 2']);
    expect(imports()).toMatchObject({ executions: 2 });
    finish('pay');
    await rounds(1);
    expect(imports()).toBeUndefined();
  });

  it('counts many future-dated executions in one round', async () => {
    const { control, finish, counted, rounds } = await play();
    await rounds(12);
    control.setClockSkew(10 * minuteMs);
    await rounds(2);
    for (let count = 0; count < 1200; count += 1) finish('pay', { agoMs: -10 * minuteMs + 1000 + count * 20 });
    control.setClockSkew(0);
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1200']);
  });

  it('counts future-dated executions if the clock was corrected during an outage', async () => {
    const { control, finish, counted, rounds, restart } = await play();
    await rounds(12);
    control.setClockSkew(10 * minuteMs);
    finish('pay', { agoMs: -10 * minuteMs + 1000 });
    control.setClockSkew(0);
    restart();
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts executions that ended during a stop, after a fast clock was corrected', async () => {
    const { control, finish, counted, rounds, restart, pass } = await play();
    await rounds(12);
    control.setClockSkew(10 * minuteMs);
    await rounds(8);
    control.setClockSkew(0);
    pass(1000);
    finish('pay');
    pass(8 * minuteMs);
    restart();
    await rounds(12);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts executions that a fast clock dated after the last read', async () => {
    const { control, finish, counted, rounds, restart, pass } = await play();
    await rounds(12);
    control.setClockSkew(10 * minuteMs);
    await rounds(8);
    pass(2 * minuteMs);
    finish('pay', { agoMs: -10 * minuteMs + 1000 });
    pass(1000);
    control.setClockSkew(0);
    restart();
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('skips nothing if the clock is set ahead during a short outage', async () => {
    const { control, finish, counted, rounds, pass, told } = await play({
      settings: { catchUpLimitMs: 12 * minuteMs },
    });
    await rounds(12);
    finish('pay');
    pass(4 * minuteMs);
    control.setClockSkew(10 * minuteMs);
    await rounds(12);
    expect(counted()).toEqual(['pay settle succeeded 1']);
    expect(told.filter((line) => line.startsWith('skipped'))).toEqual([]);
  });

  it('counts an execution that a slow clock dated days ago despite a full disk', async () => {
    const { disk, control, finish, counted, rounds, round } = await playOnDisk();
    await rounds(12);
    finish('pay');
    await rounds(12);
    control.setClockSkew(-3 * dayMs);
    disk.isFull = true;
    await expect(round()).rejects.toThrow('the disk is full');
    finish('pay', { agoMs: 3 * dayMs + 1000 });
    control.setClockSkew(0);
    for (let count = 0; count < 30; count += 1) await expect(round()).rejects.toThrow('the disk is full');
    disk.isFull = false;
    await rounds(4);
    expect(counted()).toEqual(['pay settle succeeded 2']);
  });

  it('counts future-dated executions if the clock was set back while the disk was full', async () => {
    const { disk, control, finish, counted, rounds, round } = await playOnDisk();
    await rounds(12);
    control.setClockSkew(10 * minuteMs);
    await rounds(8);
    disk.isFull = true;
    await expect(round(2 * minuteMs)).rejects.toThrow('the disk is full');
    finish('pay', { agoMs: -10 * minuteMs + 1000 });
    control.setClockSkew(0);
    await expect(round()).rejects.toThrow('the disk is full');
    disk.isFull = false;
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts future-dated executions if the clock was soon set back', async () => {
    const { control, finish, counted, rounds } = await play();
    await rounds(12);
    control.setClockSkew(120 * minuteMs);
    await rounds(8);
    finish('pay', { agoMs: -120 * minuteMs + 1000 });
    control.setClockSkew(0);
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts executions of a member whose clock is a month ahead', async () => {
    let isAhead = false;
    const played = await play({
      onRequest: ({ path }) => played.control.setClockSkew(isAhead && path.endsWith('/running') ? 30 * dayMs : 0),
    });
    const { control, job, counted, round, rounds, nowMs } = played;
    await rounds(12);
    const endedAtMs = nowMs();
    control.addFinished('pay', { jobId: job, startedAtMs: endedAtMs - 2000, endedAtMs, skewMs: 30 * dayMs });
    isAhead = true;
    await round();
    isAhead = false;
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('counts an execution that is visible only after the clock was set ahead', async () => {
    const { control, job, counted, rounds, nowMs } = await play();
    await rounds(12);
    const endedAtMs = nowMs() - 1000;
    const visibleAtMs = nowMs() + 40_000;
    control.addFinished('pay', { jobId: job, startedAtMs: endedAtMs - 2000, endedAtMs, visibleAtMs });
    control.setClockSkew(10 * minuteMs);
    await rounds(12);
    expect(counted()).toEqual(['pay settle succeeded 1']);
  });

  it('continues to read projects after a clock that was a month ahead is corrected', async () => {
    let asked = 0;
    const { control, finish, counted, rounds, round, nowMs } = await play({
      onRequest: () => {
        asked += 1;
      },
    });
    for (let index = 0; index < 40; index += 1) control.createProject(`p${index}`);
    await rounds(12);
    control.setClockSkew(30 * dayMs);
    for (let count = 0; count < 60; count += 1) await round();
    control.setClockSkew(0);
    await rounds(60);
    asked = 0;
    await rounds(20);
    // Idle projects are read in turn, 40 of them in two minutes; active projects are read in each round.
    expect(asked / 20).toBeLessThan(9);
    control.addFinished('p7', { startedAtMs: nowMs() - 2000, endedAtMs: nowMs() });
    finish('pay');
    await rounds(12);
    expect(counted()).toEqual(['p7  succeeded 1', 'pay settle succeeded 1']);
  });

  it.each([
    [600_000, -600_000],
    [-600_000, 600_000],
    [60_000 * dayMs, -5000 * dayMs],
    [-5000 * dayMs, 60_000 * dayMs],
    [40_000 * dayMs, -40_000 * dayMs],
  ])('counts executions in time if the dates of a proxy are %d ms, then %d ms wrong', async (offMs, thenMs) => {
    const ends = Array.from({ length: 200 }, (_, index) => startMs + 7000 + index * 15_000);
    const scene = createTimedScene({ answerMs: () => 20, ends: new Map([['pay', ends]]), active: ['pay'] });
    scene.setDates(offMs);
    await scene.rounds(20);
    // The newest execution ended eight seconds before the last round.
    expect(await scene.known('pay')).toBe(19);
    scene.setDates(thenMs);
    await scene.rounds(20);
    expect(await scene.known('pay')).toBe(39);
    scene.setDates(0);
    const all = await scene.rounds(20);
    expect(await scene.known('pay')).toBe(59);
    expect(all.filter(({ lagSeconds, isUp }) => lagSeconds > 1 || !isUp)).toEqual([]);
  });
});

/** Returns the stored times in the future, except the time that the clock had reached. */
async function toAhead(ledger: Played['ledger']): Promise<string[]> {
  const nextYear = /"(?!reachedMs)\w+Ms":17(69|[7-9]\d)\d{9}/g;
  const documents = await ledger.load('upstream');
  return documents.flatMap(({ kind, body }) => (/^(project|server)$/.test(kind) ? (body?.match(nextYear) ?? []) : []));
}
