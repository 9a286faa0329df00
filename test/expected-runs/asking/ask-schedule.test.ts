import { afterEach, expect, it } from 'vitest';
import { createAsking } from '../../../src/expected-runs/ask-jobs.ts';
import { askSchedule } from '../../../src/expected-runs/asking/ask-schedule.ts';
import { joinAnswer } from '../../../src/expected-runs/deciding/join-answer.ts';
import type { Timetable } from '../../../src/expected-runs/deciding/timetable.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import { birthMs } from '../../executions/scene.ts';
import { createTestClient, fixedSecret } from '../../support/client.ts';
import { createDirectSimulator } from '../../support/direct-simulator.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { someJob } from '../some-job.ts';

const dayMs = 86_400_000;
type Api = Parameters<typeof askSchedule>[0];

let close: () => Promise<void> = async () => undefined;
afterEach(() => close());

it('loses no start time that is between two requests', async () => {
  const simulator = createDirectSimulator({ scenario: 'empty', apiVersion: 47 });
  const { control } = simulator;
  control.createProject('pay');
  const id = control.createJob('pay', { name: 'often', group: '', schedule: { everyMs: 10_000, offsetMs: 4500 } });
  let nowMs = birthMs;
  const { client, close: end } = createTestClient({
    url: 'http://127.0.0.1',
    transport: simulator.transport,
    token: fixedSecret(simulator.token),
    dialect: 'rundeck',
    budget: { requestsPerSecond: 1_000_000, concurrency: 10 },
    clock: fakeClock({ now: () => nowMs, ticks: () => nowMs }),
  });
  close = end;
  const api = client.within({ lane: 'normal', forMs: 10_000 });
  const edited: number[] = [];
  let timetable: Timetable | undefined;
  const aheadMs = 300;
  for (let step = 0; step < 100; step += 1) {
    nowMs += 60_100;
    simulator.advance(60_100);
    const job: WatchedJob = { ...asked, id, ...(timetable === undefined ? {} : { timetable }) };
    const { answers } = await askSchedule(api, job, {
      nowMs: () => nowMs + aheadMs,
      isChanged: false,
      isWaiting: true,
      isBrief: false,
    });
    for (const answer of answers) {
      const joined = joinAnswer(timetable, answer, { decidedMs: nowMs, doubtMs: 0 });
      if (timetable !== undefined && joined.agreement === 'edited') edited.push(step);
      timetable = joined.timetable;
    }
  }
  expect(timetable?.timesMs.length).toBeGreaterThan(350);
  expect(edited).toEqual([]);
});

it('ignores a next run in the past', async () => {
  const api = {
    supports: async () => true,
    getTimed: async () => ({ answer: { nextRunMs: birthMs - 3_600_000 }, workMs: 7 }),
  };
  const input = { nowMs: () => birthMs, isChanged: false, isWaiting: false, isBrief: false };
  const told = await askSchedule(api as unknown as Api, asked, input);
  expect(told).toEqual({
    answers: [],
    requests: 1,
    workMs: 7,
    end: { why: 'the server reports a next run in the past' },
  });
});

it('lists the times of a job that starts at the time of each request', async () => {
  const minuteMs = 60_000;
  const times = [1, 2, 3, 4].map((minutes) => birthMs + minutes * minuteMs);
  const getTimed = async ({ path }: { path: string }) => ({
    answer: path.endsWith('info') ? { nextRunMs: birthMs } : { timesMs: times },
    workMs: 1,
  });
  const api = { supports: async () => true, getTimed } as unknown as Api;
  const timetable = {
    source: 'forecast',
    askedAtMs: 0,
    untilMs: birthMs - minuteMs,
    timesMs: [],
    confirmedMs: 0,
  } as const;
  const input = { nowMs: () => birthMs + 31, isChanged: false, isWaiting: false, isBrief: true };
  const { answers } = await askSchedule(api, { ...asked, timetable }, input);
  expect(answers.at(-1)?.timesMs).toEqual(times);
});

it.each([
  ['two times of a daily job in one turn', 1, false, ['forecast', 'forecast']],
  ['no known times', 3, false, ['info']],
  ['known times if a missed run waits for them', 3, true, ['forecast']],
])('lists %s', async (_what, known, isWaiting, sent) => {
  const times = [1, 2, 3].map((days) => birthMs + days * dayMs - 1);
  const requested: string[] = [];
  const getTimed = async ({ path }: { path: string }, { query }: { query?: { time: string } }) => {
    requested.push(path.split('/').at(-1) ?? '');
    const untilMs = birthMs + Number.parseInt(query?.time ?? '0', 10) * 60_000;
    return {
      answer: path.endsWith('info') ? { nextRunMs: times[0] } : { timesMs: times.filter((time) => time <= untilMs) },
      workMs: 1,
    };
  };
  const api = { supports: async () => true, getTimed } as unknown as Api;
  const list = { askedAtMs: birthMs, untilMs: times[known - 1] ?? 0, timesMs: times.slice(0, known) };
  const timetable = { source: 'forecast', confirmedMs: 0, ...list } as const;
  const input = { nowMs: () => birthMs, isChanged: false, isWaiting, isBrief: true };
  const { answers } = await askSchedule(api, { ...asked, lastModifiedMs: 0, timetable }, input);
  expect([answers.at(-1)?.timesMs, requested]).toEqual([times.slice(0, sent.length), sent]);
});

it('requests a schedule in time although hundreds of missed runs wait for a response', async () => {
  const times = { askedAtMs: birthMs - dayMs, confirmedMs: 0, untilMs: birthMs + dayMs, timesMs: [birthMs + dayMs] };
  const timetable = { source: 'forecast', ...times } as const;
  const ids = Array.from({ length: 250 }, (_, index) => `${index}`);
  const all = new Map(ids.map((id) => [id, { ...asked, id, timetable }]));
  const requested: string[] = [];
  const getTimed = async ({ path }: { path: string }, { path: { id } }: { path: { id: string } }) => {
    requested.push(id);
    return { answer: path.endsWith('info') ? { nextRunMs: birthMs + dayMs } : { timesMs: [] }, workMs: 1 };
  };
  const notes = { all: () => new Map(), serverNowMs: () => birthMs, clocks: { aheadMs: () => 0, behindMs: () => 0 } };
  const clock = fakeClock({ ticks: () => 0 });
  const asking = createAsking({ jobs: { all, answer: async () => undefined }, notes, clock, everyMs: 60_000 });
  for (const id of ids.slice(1)) asking.waiting.add(id);
  await asking.read({ supports: async () => true, getTimed } as unknown as Api, new AbortController().signal);
  expect(requested).toContain('0');
});

const asked = someJob({ name: 'often' });
