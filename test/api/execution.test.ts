import { describe, expect, it } from 'vitest';
import { execution } from '../../src/api/endpoints/execution.ts';

const answer = {
  id: 4711,
  href: 'https://elsewhere.example.org/api/47/execution/4711',
  permalink: 'https://automation.example.org/project/shop/execution/show/4711',
  status: 'failed-with-retry',
  project: 'shop',
  executionType: 'user',
  user: 'alice',
  'date-started': { unixtime: 1716200000123, date: '2024-05-20T10:13:20Z' },
  'date-ended': { unixtime: 1716200009456, date: '2024-05-20T10:13:29Z' },
  job: { id: 'u', averageDuration: 5123, name: 'n', group: null, options: { size: 'xl', odd: 7 } },
  description: 'uptime',
  argstring: '-size xl',
  serverUUID: 'm1',
  successfulNodes: ['web01'],
  failedNodes: ['web02', 3],
  retryAttempt: '1',
  retriedExecution: { id: 4712, permalink: 'x', href: 'y', status: 'running' },
};

describe('api/endpoints/execution', () => {
  it('reads everything that a trace needs', () => {
    expect(execution.body.parse(answer)).toEqual({
      id: 4711,
      status: 'failed-with-retry',
      customStatus: undefined,
      project: 'shop',
      startedAtMs: 1716200000123,
      endedAtMs: 1716200009456,
      job: { id: 'u', name: 'n', group: '', averageDurationMs: 5123 },
      isJobDeleted: false,
      type: 'user',
      succeededNodes: 1,
      failedNodes: ['web02'],
      permalink: 'https://automation.example.org/project/shop/execution/show/4711',
      user: 'alice',
      abortedBy: undefined,
      argstring: '-size xl',
      options: new Map([['size', 'xl']]),
      serverUuid: 'm1',
      retryAttempt: 1,
      nextAttemptId: 4712,
    });
  });

  it('accepts a minimal execution', () => {
    const read = execution.body.parse({
      id: '7',
      'date-started': { unixtime: 1716200000123 },
      job: null,
      argstring: null,
    });
    expect(read).toMatchObject({
      id: 7,
      status: 'other',
      startedAtMs: 1_716_200_000_123,
      job: undefined,
      failedNodes: [],
    });
    expect(read.endedAtMs).toBeUndefined();
  });

  it('uses the end as the start if the start is impossibly old', () => {
    const times = { 'date-started': { unixtime: 5 }, 'date-ended': { unixtime: 1_716_200_009_456 } };
    expect(execution.body.parse({ id: 7, ...times }).startedAtMs).toBe(1_716_200_009_456);
  });

  it.each([
    [{ id: 7 }],
    [{ 'date-started': { unixtime: 1716200000123 } }],
    [{ id: 7, 'date-started': { unixtime: 5 } }],
    [null],
    [[]],
  ])('refuses %j', (body) => {
    expect(execution.body.safeParse(body).success).toBe(false);
  });
});
