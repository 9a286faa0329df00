import { describe, expect, it, onTestFinished } from 'vitest';
import { execution } from '../../src/api/endpoints/execution.ts';
import { executionsTotal, projectExecutions } from '../../src/api/endpoints/executions.ts';
import { startCannedServer } from '../support/canned-server.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';

async function read(body: string) {
  const server = await startCannedServer({ apiVersion: 47, dialect: 'rundeck' });
  server.answer({ 'project/a%2Fb/executions': { body } });
  const { api, close } = createTestClient({ url: server.url, token: fixedSecret(server.token) });
  onTestFinished(close);
  onTestFinished(server.stop);
  const answer = await api
    .get(projectExecutions, { path: { project: 'a/b' }, query: { begin: 1, end: 2, max: 500 } })
    .catch((error: unknown) => String(error));
  return { answer, asked: server.requests.at(-1) };
}

describe('api/executions', () => {
  it('reads executions of jobs and ad hoc commands, finished and unfinished', async () => {
    const { answer, asked } = await read(`{"paging":{"count":3,"total":3,"offset":0,"max":20},"executions":[
      {"id":4711,"status":"succeeded","project":"p","executionType":"user","date-started":{"unixtime":1716200000123,"date":"2024-05-20T10:13:20Z"},
       "date-ended":{"unixtime":1716200009456,"date":"2024-05-20T10:13:29Z"},
       "job":{"id":"u","averageDuration":5123,"name":"n","group":"","project":"p","description":null},
       "successfulNodes":["web01","web03"],"failedNodes":["web02"]},
      {"id":"4712","status":"other","customStatus":"incomplete","project":"p","date-started":{"date":"2024-05-20T10:13:20Z"},"job":null},
      {"id":4713,"status":"retried","project":"p","date-started":{"unixtime":1716200000000,"date":"2024-05-20T10:13:20Z"},"executionType":null,"description":"uptime","argstring":null,"jobDeleted":true,"retryAttempt":2,"retriedExecution":{"id":4714,"status":"running"}}]}`);

    expect(asked).toBe('GET /api/47/project/a%2Fb/executions?begin=1&end=2&max=500');
    expect(answer).toEqual({
      total: 3,
      max: 20,
      origins: [
        { id: 4711, arguments: undefined, user: undefined, memberUuid: undefined, nodes: ['web01', 'web03', 'web02'] },
      ],
      items: [
        {
          id: 4711,
          status: 'succeeded',
          customStatus: undefined,
          project: 'p',
          startedAtMs: 1716200000123,
          endedAtMs: 1716200009456,
          job: { id: 'u', name: 'n', group: '', averageDurationMs: 5123 },
          isJobDeleted: false,
          type: 'user',
          succeededNodes: 2,
          succeededOn: ['web01', 'web03'],
          failedNodes: ['web02'],
        },
        {
          id: 4712,
          status: 'other',
          customStatus: 'incomplete',
          project: 'p',
          startedAtMs: 1716200000000,
          endedAtMs: undefined,
          job: undefined,
          isJobDeleted: false,
          type: undefined,
          succeededNodes: 0,
          failedNodes: [],
        },
        {
          id: 4713,
          status: 'failed-with-retry',
          customStatus: undefined,
          project: 'p',
          startedAtMs: 1716200000000,
          endedAtMs: undefined,
          job: undefined,
          isJobDeleted: true,
          type: undefined,
          succeededNodes: 0,
          failedNodes: [],
          attempt: 2,
          nextAttemptId: 4714,
        },
      ],
      oddRows: [],
    });
  });

  it('accepts waiting executions without a start', async () => {
    const { answer } = await read(`{"paging":{"total":2},"executions":[
      {"id":1,"status":"queued","project":"p","date-started":null},
      {"id":2,"status":"running","project":"p","date-started":{"unixtime":1716200000123}}]}`);

    expect(answer).toMatchObject({
      total: 2,
      items: [
        { id: 1, status: 'queued', startedAtMs: Number.POSITIVE_INFINITY, endedAtMs: undefined },
        { id: 2, status: 'running', startedAtMs: 1716200000123 },
      ],
    });
  });

  it('uses the end as the start if the start is missing', async () => {
    const { answer } = await read(`{"paging":{"total":3},"executions":[
      {"id":1,"status":"failed","date-started":null,"date-ended":{"unixtime":1716200009456}},
      {"id":2,"status":"failed","date-started":{"unixtime":9e15},"date-ended":{"unixtime":1716200009456}},
      {"id":3,"status":"failed","date-started":{"unixtime":5000},"date-ended":{"unixtime":1716200009456}}]}`);

    expect(answer).toMatchObject({
      items: [
        { id: 1, startedAtMs: 1716200009456, endedAtMs: 1716200009456, lacksStart: true },
        { id: 2, startedAtMs: 1716200009456, endedAtMs: 1716200009456, lacksStart: true },
        { id: 3, startedAtMs: 1716200009456, endedAtMs: 1716200009456, lacksStart: true },
      ],
      oddRows: [],
    });
  });

  it('names the invalid field of each unreadable row', async () => {
    const { answer } = await read(`{"paging":{"total":7},"executions":[
      {"id":1,"status":"running"},
      {"status":"failed","date-started":{"unixtime":1716200000123}},
      {"id":2.5,"date-started":{"unixtime":1716200000123}},
      {"id":-1,"date-started":{"unixtime":1716200000123}},
      {"id":1e30,"date-started":{"unixtime":1716200000123}},
      {"id":3,"date-started":{"unixtime":1716200000123},"date-ended":"${'x'.repeat(300)}"},
      null,
      {"id":4,"status":"running","date-started":{"unixtime":1716200000123}}]}`);

    expect(answer).toMatchObject({
      total: 7,
      items: [{ id: 4 }],
      oddRows: [
        { field: 'date-started', text: '{"id":1,"status":"running"}' },
        { field: 'id', text: '{"status":"failed","date-started":{"unixtime":1716200000123}}' },
        { field: 'id' },
        { field: 'id' },
        { field: 'id' },
        {
          field: 'date-ended',
          text: `{"id":3,"date-started":{"unixtime":1716200000123},"date-ended":"${'x'.repeat(136)}`,
        },
        { field: 'id', text: 'null' },
      ],
    });
  });

  it.each([
    ['{"status":{},"duration":{}}', 0],
    ['{"total":3,"status":{"failed":3},"duration":{"average":"1s"}}', 3],
    ['{"message":"maintenance"}', undefined],
  ])('reads the total from %s; releases 3.0.x omit a total of 0', (body, total) => {
    expect(executionsTotal.body.parse(JSON.parse(body))).toBe(total);
  });

  // Up to release 5 of the rundeck dialect, only these fields show that a job was deleted.
  it.each([
    ['a person (servers mark ad hoc runs as scheduled)', { executionType: 'scheduled' }, false],
    ['a one-time run', { executionType: 'user-scheduled' }, true],
    ['a second attempt', { executionType: 'user', retryAttempt: '1' }, true],
    ['an attempt with a later attempt', { executionType: 'user', retriedExecution: { id: 8 } }, true],
    ['a user', { executionType: 'user', retryAttempt: 0 }, false],
    ['a user, of a job', { executionType: 'scheduled', job: { id: 'a-1', name: 'settle' } }, false],
  ])('treats an execution by %s without a job as an execution of a deleted job', (_name, part, isJobDeleted) => {
    const ended = { unixtime: 1_716_200_000_000 };
    const row = { id: 7, status: 'succeeded', 'date-started': ended, 'date-ended': ended, ...part };
    const list = projectExecutions.body.parse({ paging: { total: 1, max: 20 }, executions: [row] });
    expect([list.items[0]?.isJobDeleted, execution.body.parse(row).isJobDeleted]).toEqual([isJobDeleted, isJobDeleted]);
  });
});
