import { describe, expect, it, onTestFinished } from 'vitest';
import { readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { jobDefinition, jobForecast, jobInfo, projectJobs } from '../../src/api/endpoints/jobs.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { createDirectSimulator } from '../support/direct-simulator.ts';

function decode<Answer>(endpoint: Endpoint<Answer>, body: string): Answer {
  return readAnswer(endpoint, { status: 200, headers: {}, cookies: [], body }, { isSession: false, nowMs: 0 });
}

const job =
  '"id":"j1","name":"settle","group":null,"project":"pay","scheduled":true,"scheduleEnabled":true,"enabled":true';
const two = Date.UTC(2026, 10, 21, 2);
const three = Date.UTC(2026, 10, 21, 3);

/** Returns the requested paths. */
async function askAll(apiVersion: number, configured: number | 'auto' = 'auto'): Promise<readonly string[]> {
  const simulator = createDirectSimulator({ scenario: 'empty', apiVersion });
  simulator.control.createProject('pay', []);
  simulator.control.createJob('pay', { name: 'settle', schedule: { everyMs: 3_600_000, offsetMs: 0 } }, 'j1');
  const { api, close } = createTestClient({
    url: 'http://127.0.0.1',
    transport: simulator.transport,
    token: fixedSecret(simulator.token),
    apiVersion: configured,
  });
  onTestFinished(close);
  await api.get(projectJobs, { path: { project: 'pay' } });
  await api.get(jobForecast, { path: { id: 'j1' }, query: { time: '1d' } });
  return simulator
    .requests()
    .map(({ path }) => path)
    .slice(-2);
}

describe('api/endpoints/jobs, schedules', () => {
  it.each([
    ['a date in whole seconds', '"2026-11-21T02:00:00Z"', [two]],
    ['the milliseconds of release 6.0', '"2026-11-21T02:00:00.000Z"', [two]],
    [
      'times in the wrong order, with one of them twice',
      '"2026-11-21T03:00:00Z","2026-11-21T02:00:00Z","2026-11-21T03:00:00Z"',
      [two, three],
    ],
    ['a text that is not a time', 'null,"soon","2026-11-21T02:00:00Z"', [two]],
    ['nothing', '', []],
  ])('reads a forecast with %s', (_name, times, expected) => {
    expect(decode(jobForecast, `{${job},"futureScheduledExecutions":[${times}]}`)).toEqual({ timesMs: expected });
  });

  it('distinguishes a disabled job from a job with an empty list of times', () => {
    expect(decode(jobForecast, `{${job}}`)).toEqual({ timesMs: undefined });
  });

  it('reads whether several runs of a job may overlap', () => {
    expect(decode(jobDefinition, '[{"multipleExecutions":true}]')).toEqual({ allowsSeveral: true });
    const two = '[{"multipleExecutions":true,"maxMultipleExecutions":"2"}]';
    expect(decode(jobDefinition, two)).toEqual({ allowsSeveral: true, mostAtOnce: 2 });
    expect(decode(jobDefinition, '[{"name":"settle"}]')).toEqual({ allowsSeveral: false });
  });

  it('reads the next run if there is no forecast', () => {
    expect(decode(jobInfo, `{${job},"averageDuration":1500,"nextScheduledExecution":"2026-11-21T02:00:00Z"}`)).toEqual({
      averageDurationMs: 1500,
      nextRunMs: two,
    });
  });

  it('reads the last change and the member of a job from lists', () => {
    expect(decode(projectJobs, `[{${job},"serverNodeUUID":"u1","lastModified":"2026-11-21T02:00:00Z"}]`)).toEqual([
      {
        id: 'j1',
        name: 'settle',
        group: '',
        isScheduled: true,
        isEnabled: true,
        isScheduleEnabled: true,
        ownerUuid: 'u1',
        lastModifiedMs: two,
      },
    ]);
  });

  it('requests jobs in the API version that reports changes', async () => {
    expect(await askAll(58)).toEqual(['/api/56/project/pay/jobs', '/api/47/job/j1/forecast']);
    expect(await askAll(47)).toEqual(['/api/47/project/pay/jobs', '/api/47/job/j1/forecast']);
  });

  it('uses the configured version', async () => {
    expect(await askAll(58, 41)).toEqual(['/api/41/project/pay/jobs', '/api/41/job/j1/forecast']);
  });

  it('never requests a forecast with one-time runs', async () => {
    expect(await askAll(58, 54)).toEqual(['/api/54/project/pay/jobs', '/api/47/job/j1/forecast']);
  });
});
