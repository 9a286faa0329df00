import { describe, expect, it } from 'vitest';
import { toAccessPolicy } from '../../src/api/access-policy.ts';
import type { ServerFacts } from '../../src/api/contact.ts';
import { executionsCollector } from '../../src/daemon/catalogue/collectors.ts';
import type { Memory } from '../../src/domain/memory.ts';
import type { Outcome, PollKey } from '../../src/schedule/outcome.ts';
import type { PollStatus } from '../../src/schedule/scheduler.ts';
import type { Seen } from '../../src/schedule/vitality.ts';
import type { SpoolSize } from '../../src/state/spool.ts';
import { readStatus, type StatusParts, type Watched } from '../../src/status/read-status.ts';
import { executions } from '../http/some-status.ts';

const emptySpool: SpoolSize = { traces: 0, bytes: 0, oldestMs: undefined, quarantinedTraces: 0, quarantinedBytes: 0 };
const nowMs = Date.parse('2024-05-20T03:19:40Z');
const success: Outcome = { result: 'success', series: 14 };
const timedOut: Outcome = { result: 'failed', kind: 'timeout', message: 'no answer within 10 s' };
const denied: Outcome = { result: 'off', reason: 'denied', message: 'HTTP 403' };

/** A poll that ended 12 s ago, with the same result for 10 min. */
function poll(key: Omit<PollKey, 'server'>, outcome?: Outcome, given: Partial<PollStatus> = {}): PollStatus {
  const taken = { endedAtMs: nowMs - 12_000, tookMs: 23, succeededAtMs: nowMs - 12_000, restsForMs: 0 };
  return {
    key: { server: 'prod', ...key },
    vital: false,
    everyMs: 15_000,
    last: outcome === undefined ? undefined : { outcome, ...taken },
    sinceMs: nowMs - 600_000,
    nextRunAtMs: nowMs + 3000,
    isUnderWay: false,
    ...given,
  };
}

const vital = { vital: true };
const rule = [{ type: 'resource', kind: 'system', allow: 'read' }];

type Given = Partial<StatusParts & Watched>;

async function read(polls: readonly PollStatus[], given: Given = {}) {
  const [server] = (await readAll(polls, given)).servers;
  if (server === undefined) throw new Error('one server was given');
  return server;
}

function readAll(polls: readonly PollStatus[], given: Given = {}) {
  const nothing = (): undefined => undefined;
  const unknown: Watched = { facts: nothing, seen: nothing, executions: nothing, visibleProjects: nothing };
  return readStatus({
    version: '0.1.0',
    servers: [{ name: 'prod', url: 'https://prod.example.org' }],
    config: { collectors: {} },
    // The test uses only the name and the rules of a collector.
    collectors: [
      { name: 'log-storage', reads: [{ allowedBy: rule }] },
      { name: 'project-jobs', reads: [{ allowedBy: [{ type: 'job', allow: 'view' }] }] },
      { name: 'executions', reads: executionsCollector.reads },
    ] as unknown as StatusParts['collectors'],
    polls: () => polls,
    watched: () => ({ ...unknown, ...given }),
    delivery: () => undefined,
    spool: { size: async () => emptySpool },
    state: { recall: async () => undefined },
    startedAtMs: nowMs - 3_600_000,
    loadedAtMs: () => nowMs - 60_000,
    clock: { now: () => nowMs, after: () => () => undefined },
    ...given,
  });
}

describe('status/read-status', () => {
  it('reports that another exporter watches the server', async () => {
    const lease = { isOwned: false, owner: 'http://b:9720', epoch: 4, expiresInMs: 8000 };
    const watcher = { is: 'other', address: lease.owner, page: lease.owner } as const;
    expect(await read([], { lease: () => lease, watcherOf: () => watcher })).toMatchObject({
      state: 'elsewhere',
      lease,
    });
  });

  it('does not wait for a state store that does not answer', async () => {
    const waits: number[] = [];
    const after = (ms: number, run: () => void) => {
      waits.push(ms);
      queueMicrotask(run);
      return () => undefined;
    };
    const never = async () => new Promise<never>(() => undefined);
    const status = await readAll([poll({ collector: 'execution-mode' }, success, vital)], {
      clock: { now: () => nowMs, after },
      spool: { size: never },
      state: { recall: never },
      database: () => ({ sinceMs: nowMs, message: 'the database does not respond' }),
    });
    expect(status).toMatchObject({ traces: undefined, database: { message: 'the database does not respond' } });
    expect(status.servers[0]).toMatchObject({ name: 'prod', executionMode: undefined });
    expect(waits).toEqual([2000, 2000]);
  });

  it('reports that another exporter watches the members of the server', async () => {
    const watcher = { is: 'other', address: 'http://b:9720', page: undefined } as const;
    const servers = [{ name: 'prod', url: 'http://x', members: [{ name: 'm', url: 'http://m' }] }];
    expect(await read([], { servers, watcherOf: () => watcher })).toMatchObject({ members: [{ state: 'elsewhere' }] });
  });

  it('reports that no exporter watches a server whose lease has expired', async () => {
    const lease = { isOwned: false, owner: 'http://b:9720', epoch: 4, expiresInMs: 0 };
    expect(await read([], { lease: () => lease, watcherOf: () => ({ is: 'nobody' }) })).toMatchObject({
      state: 'unwatched',
      lease,
    });
  });

  it.each(['up', 'refused', 'down'] as const)(
    'reports a server as %s if the vital polls report this',
    async (state) => {
      const seen: Seen = { state, sinceMs: nowMs - 90_000, message: 'HTTP 401' };
      expect(await read([], { seen: () => seen })).toMatchObject(seen);
    },
  );

  it('reports a server as waiting until its first vital poll has ended', async () => {
    const timed = poll({ collector: 'ping' }, timedOut);
    expect(await read([timed])).toMatchObject({ state: 'waiting', sinceMs: undefined, message: undefined });
  });

  it('reports facts from the first contact and the stored mode', async () => {
    const told = { dialect: 'rundeck', apiVersion: 47, release: '5.3.0' } as const;
    const facts: ServerFacts = { ...told, hidesMembers: false };
    const memory: Memory = { mode: 'passive', changedAtMs: nowMs - 60_000 };
    const recall: StatusParts['state']['recall'] = async ({ server, collector }) =>
      server === 'prod' && collector === 'execution-mode' ? memory : undefined;
    const server = await read([poll({ collector: 'execution-mode' }, success, vital)], {
      facts: () => facts,
      state: { recall },
    });

    expect(server).toMatchObject({ ...told, executionMode: 'passive', executionModeSinceMs: nowMs - 60_000 });
  });

  it('shows no execution mode if the mode is no longer read', async () => {
    const recall = async (): Promise<Memory> => ({ mode: 'active' });
    const failing = poll({ collector: 'execution-mode' }, timedOut, vital);
    expect((await read([failing], { state: { recall } })).executionMode).toBeUndefined();

    const broken = (): Promise<Memory> => Promise.reject(new Error('the disk is gone'));
    const fine = poll({ collector: 'execution-mode' }, success, vital);
    expect((await read([fine], { state: { recall: broken } })).executionMode).toBeUndefined();
  });

  it('shows the result of each collector', async () => {
    const { collectors } = await read(
      [
        poll({ collector: 'ping' }, success),
        poll({ collector: 'project-jobs' }, { ...success, note: '3 of 40 projects are denied' }),
        poll({ collector: 'users' }, timedOut),
        poll({ collector: 'healthcheck' }, { ...success, complaints: ['health check db fails'] }),
        poll({ collector: 'tokens' }),
      ],
      { config: { collectors: { threads: { enabled: false, everyMs: 60_000 } } } },
    );

    expect(
      collectors.map(({ name, result, reason, message, complaints, series }) => [
        name,
        result,
        reason,
        message,
        complaints,
        series,
      ]),
    ).toEqual([
      ['ping', 'success', undefined, undefined, [], 14],
      ['project-jobs', 'success', undefined, '3 of 40 projects are denied', [], 14],
      ['users', 'failed', 'timeout', 'no answer within 10 s', [], undefined],
      ['healthcheck', 'success', undefined, undefined, ['health check db fails'], 14],
      ['tokens', 'waiting', undefined, undefined, [], undefined],
      ['threads', 'off', 'config', undefined, [], undefined],
    ]);
  });

  it.each([
    { what: 'failed before the server recovered', agoMs: 12_000, state: 'up', sinceAgoMs: 5000, result: 'waiting' },
    { what: 'failed after the server recovered', agoMs: 12_000, state: 'up', sinceAgoMs: 13_000, result: 'failed' },
    { what: 'fails while the server is down', agoMs: 12_000, state: 'down', sinceAgoMs: 5000, result: 'failed' },
    { what: 'was not polled again in time', agoMs: 130_000, state: 'up', sinceAgoMs: 120_000, result: 'failed' },
  ] as const)('shows a collector as $result that $what', async ({ agoMs, state, sinceAgoMs, result }) => {
    const endedAtMs = nowMs - agoMs;
    const seen: Seen = { state, sinceMs: nowMs - sinceAgoMs, message: undefined };
    const last = { outcome: timedOut, endedAtMs, tookMs: 23, succeededAtMs: undefined, restsForMs: 0 };
    const { collectors } = await read([poll({ collector: 'tokens' }, timedOut, { last })], { seen: () => seen });
    expect(collectors[0]?.result).toBe(result);
  });

  it('reports the next run of a poll after its pause', async () => {
    const last = {
      outcome: denied,
      endedAtMs: nowMs - 12_000,
      tookMs: 1,
      succeededAtMs: undefined,
      restsForMs: 300_000,
    };
    const { collectors } = await read([poll({ collector: 'users' }, denied, { last })]);
    expect(collectors[0]?.nextRunAtMs).toBe(nowMs + 288_000);
  });

  it('suggests the policy for denied requests', async () => {
    const polls = [
      poll({ collector: 'log-storage' }, denied),
      poll({ collector: 'project-jobs' }, { ...success, note: '3 of 40 projects are denied' }),
    ];
    const policy = (await read(polls)).missingPolicy;

    expect(policy).toContain('    - { equals: { kind: system }, allow: [read] }\n');
    expect(policy).toContain('    - { allow: [view] }\n');
    expect((await read([poll({ collector: 'log-storage' }, timedOut)])).missingPolicy).toBeUndefined();
  });

  it('never suggests the rights of an administrator', async () => {
    const rules = [[{ type: 'resource', kind: 'system', allow: 'admin' }], rule];
    const collectors = ['users', 'log-storage'].map((name, index) => ({ name, reads: [{ allowedBy: rules[index] }] }));
    const polls = collectors.map(({ name }) => poll({ collector: name }, denied));
    const server = await read(polls, { collectors: collectors as unknown as StatusParts['collectors'] });

    expect(server.needsAdmin).toEqual([{ collector: 'users', right: 'system admin' }]);
    expect(server.missingPolicy).toContain('allow: [read]');
    expect(server.missingPolicy).not.toContain('admin]');
    const alone = await read(polls.slice(0, 1), { collectors: collectors as unknown as StatusParts['collectors'] });
    expect(alone.missingPolicy).toBeUndefined();
  });

  const ofExecutions = toAccessPolicy(executionsCollector.reads);

  it.each([
    ['whose history is not shown', executions({ hidden: [{ project: 'pay', counted: 114, readable: 0 }] })],
    ['whose history is shown in part', executions({ hidden: [{ project: 'pay', counted: 20, readable: 12 }] })],
    ['without the right to read what runs', executions({ runningSight: 'denied' })],
    ['without the right to read some of what runs', executions({ runningDenied: ['pay'] })],
  ])('suggests the whole policy of executions for projects %s', async (_, told) => {
    const polls = [poll({ collector: 'executions' }, success), poll({ collector: 'log-storage' }, success)];
    expect((await read(polls, { executions: () => told })).missingPolicy).toBe(ofExecutions);
  });

  it('suggests no policy if executions were not read for lack of time', async () => {
    const polls = [poll({ collector: 'executions' }, { ...success, note: 'it ran out of time' })];
    const told = executions({ runningSight: 'unknown' });
    expect((await read(polls, { executions: () => told })).missingPolicy).toBeUndefined();
  });

  it('suggests the whole policy if no project is visible', async () => {
    const polls = [poll({ collector: 'executions' }, success), poll({ collector: 'log-storage' }, success)];
    const server = await read(polls, { visibleProjects: () => 0 });
    expect(server.visibleProjects).toBe(0);
    expect(server.missingPolicy).toContain('project:\n    - { allow: [read] }\n');
    expect(server.missingPolicy).toContain('{ kind: system }, allow: [read] }');
  });

  it('reports members that are not configured', async () => {
    const facts: ServerFacts = { dialect: 'rundeck', apiVersion: 47, release: '5.3.0', hidesMembers: true };
    expect((await read([], { facts: () => facts })).hidesMembers).toBe(true);

    const members = [{ name: 'a', url: 'https://a.example.org' }];
    const servers = [{ name: 'prod', url: 'https://prod.example.org', members }];
    expect((await read([], { facts: () => facts, servers })).hidesMembers).toBe(false);
  });

  it('reports a cluster as up while one member is up', async () => {
    const members = [
      { name: 'a', url: 'https://a.example.org' },
      { name: 'b', url: 'https://b.example.org' },
    ];
    const polls = [
      poll({ collector: 'users' }, success),
      poll({ member: 'a', collector: 'ping' }, timedOut, vital),
      poll({ member: 'b', collector: 'ping' }, success, vital),
    ];
    const seen: Watched['seen'] = (member) =>
      member === undefined
        ? undefined
        : { state: member === 'b' ? 'up' : 'down', sinceMs: nowMs - 1000, message: undefined };
    const servers = [{ name: 'prod', url: 'https://prod.example.org', members }];
    const server = await read(polls, { servers, seen });

    expect(server).toMatchObject({ state: 'up', hidesMembers: false });
    expect(server.collectors.map(({ name }) => name)).toEqual(['users']);
    expect(server.members.map(({ name, url, state }) => `${name} ${url} ${state}`)).toEqual([
      'a https://a.example.org down',
      'b https://b.example.org up',
    ]);
  });

  it('reports since when all members of a cluster are down', async () => {
    const members = ['a', 'b'].map((name) => ({ name, url: `https://${name}.example.org` }));
    const polls = members.map(({ name }) => poll({ member: name, collector: 'ping' }, timedOut, vital));
    const seen: Watched['seen'] = (member) =>
      member === undefined
        ? undefined
        : { state: 'down', sinceMs: nowMs - (member === 'a' ? 9000 : 1000), message: undefined };
    const servers = [{ name: 'prod', url: 'https://prod.example.org', members }];
    expect(await read(polls, { servers, seen })).toMatchObject({ state: 'down', sinceMs: nowMs - 1000 });
  });

  it('reports waiting and quarantined traces and the state of delivery', async () => {
    const size: SpoolSize = {
      traces: 3,
      bytes: 9000,
      oldestMs: nowMs - 5000,
      quarantinedTraces: 1,
      quarantinedBytes: 400,
    };
    const bounds = { maxTraces: 10, maxBytes: 10_000 };
    const failing = { sinceMs: nowMs - 1000, reason: 'HTTP 503' };
    const rest = { lastDeliveredMs: undefined, pending: 2, bounds, quarantineBounds: bounds };
    const delivery = { collector: 'collector.example.org', failing, ...rest };
    const { traces } = await readAll([], { spool: { size: async () => size }, delivery: () => delivery });
    const counts = { waiting: 3, waitingBytes: 9000, oldestMs: nowMs - 5000, quarantine: 1, quarantinedBytes: 400 };
    expect(traces).toEqual({ ...counts, delivery });
  });

  it('reports servers even if traces cannot be read from the state', async () => {
    const size = (): Promise<SpoolSize> => Promise.reject(new Error('the disk is gone'));
    const { servers, traces } = await readAll([], { spool: { size } });
    expect({ servers: servers.length, traces }).toEqual({ servers: 1, traces: undefined });
  });
});
