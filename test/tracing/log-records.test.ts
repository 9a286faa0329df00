import { describe, expect, it } from 'vitest';
import { readLogRequest } from '../../simulator/traces/read-request.ts';
import { toSuspectText } from '../../src/diagnosis/changes/explain.ts';
import type { LogLine } from '../../src/domain/failure-class.ts';
import { toContent } from '../../src/tracing/deliver/batch.ts';
import { encodeLogs, encodeTrace } from '../../src/tracing/deliver/encode.ts';
import { createSendLines, type LineSending } from '../../src/tracing/enrich/send-lines.ts';
import { conventional } from '../../src/tracing/plan/attribute-names.ts';
import { toChangeRecords } from '../../src/tracing/plan/change-records.ts';
import { toLineRecords } from '../../src/tracing/plan/log-records.ts';
import { describeRoot } from '../../src/tracing/plan/plan-trace.ts';
import { makeTrace } from './deliver/made-traces.ts';
import { planRecorded, planSource, readRecorded } from './recorded.ts';

const lines: readonly LogLine[] = [
  { level: 'WARN', text: 'disk full', node: 'db03', context: '1', atMs: 1_700_000_000_123 },
  { level: 'ERROR', text: 'Failed: NonZeroResultCode', node: 'db03', context: '1', atMs: undefined },
];
const emptyLine = { level: 'WARN', text: 'disk full', node: 'db03', context: '1', atMs: undefined } as const;
const plan = planRecorded('failed-node');
const read = (bytes: Uint8Array) => readLogRequest(Buffer.from(bytes));
const encoded = (format: 'protobuf' | 'json', traced = plan) =>
  encodeLogs(toLineRecords({ ...traced, lines }, 5000), format);

describe('tracing/plan/log-records', () => {
  it('assigns each line to the span of its step', () => {
    const records = read(encoded('protobuf'));
    const step = plan.trace.spans.find(({ id }) => id === records[0]?.spanId);
    expect(step?.attributes[conventional.taskRunId]).toBe(`${plan.failure?.context}@${plan.failure?.node}`);
    expect(records.map(({ traceId, body, severity, atMs }) => ({ traceId, body, severity, atMs }))).toEqual([
      { traceId: plan.trace.traceId, body: 'disk full', severity: 'WARN', atMs: 1_700_000_000_123 },
      { traceId: plan.trace.traceId, body: 'Failed: NonZeroResultCode', severity: 'ERROR', atMs: 0 },
    ]);
  });

  it('has only the service in the resource', () => {
    const [first, second] = read(encoded('protobuf'));
    expect([...(first?.resource.keys() ?? [])]).toEqual(['service.name', 'service.namespace']);
    expect(first?.attributes.get('automation.server.name')).toBe('main');
    expect([first, second].map((record) => record?.attributes.get('log.record.uid'))).toEqual([
      `${plan.trace.traceId}-1`,
      `${plan.trace.traceId}-2`,
    ]);
  });

  it('has different ids for each execution in the trace of a caller', () => {
    const source = readRecorded('failed-node');
    const value = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const uids = [1, 2, 1].map((id) => {
      const execution = { ...source.execution, id, options: new Map([['traceparent', value]]) };
      const joined = planSource({ ...source, execution }, { joining: { option: 'traceparent', mode: 'parent' } });
      return toLineRecords({ ...joined, lines }, 5000).records.map((one) => one.attributes[conventional.recordId]);
    });
    expect(new Set(uids.flat()).size).toBe(4);
    expect(uids[2]).toEqual(uids[0]);
  });

  it('adds the lines of each failed node to the span of a failed step', () => {
    const failure = plan.failure && { ...plan.failure, others: [{ node: 'web01', context: '1' }] };
    const own = [
      { ...lines[0], node: 'web01' },
      { ...lines[1], node: 'web02' },
    ] as readonly LogLine[];
    const records = read(encodeLogs(toLineRecords({ ...plan, failure, lines: own }, 5000), 'protobuf'));
    const runs = records.map(({ attributes }) => attributes.get(conventional.taskRunId));
    expect(runs).toEqual(['1@web01', '1@web02']);
    expect(records.map(({ spanId }) => spanId)).toEqual(
      runs.map((run) => plan.trace.spans.find(({ attributes }) => attributes[conventional.taskRunId] === run)?.id),
    );
  });

  it('adds the lines of a job reference that runs for each node to the span of the right node', () => {
    const [context, other] = ['1@node=web01/1', '1@node=web02/1'];
    const failure = {
      failureClass: 'work',
      node: 'node0',
      context,
      others: [{ node: 'node0', context: other }],
    } as const;
    const own = [other, context].map((each): LogLine => ({ ...emptyLine, node: 'node0', context: each }));
    const [root] = plan.trace.spans;
    const spans =
      root === undefined
        ? []
        : [context, other].map((each) => {
            const attributes = { [conventional.taskRunId]: `${each}@node0` };
            return { ...root, id: each, attributes };
          });
    const traced = { ...plan, failure, lines: own, trace: { ...plan.trace, spans } };
    expect(toLineRecords(traced, 5000).records.map(({ span }) => span?.spanId)).toEqual([other, context]);
  });

  it('adds lines to the root if a trace has no steps', () => {
    const bare = planRecorded('failed-node', { detail: 'root' });
    expect(read(encoded('protobuf', bare))[0]?.spanId).toBe(bare.trace.spans[0]?.id);
  });

  it.each(['protobuf', 'json'] as const)('joins requests (%s)', (format) => {
    const spooled = { ...makeTrace(1), encoding: `logs-${format}` as const, bytes: encoded(format) };
    const { bytes } = toContent([spooled, spooled]);
    const count =
      format === 'protobuf'
        ? read(bytes).length
        : (JSON.parse(Buffer.from(bytes).toString()) as { resourceLogs: unknown[] }).resourceLogs.length * 2;
    expect(count).toBe(4);
  });
});

describe('tracing/plan/change-records', () => {
  it('makes an event for a change', () => {
    const change = {
      kind: 'key',
      project: '',
      subject: 'keys/db',
      what: 'changed',
      by: 'bob',
      afterMs: 1,
      beforeMs: 9000,
      atMs: 8000,
    } as const;
    const about = {
      server: 'prod',
      service: 'automation-service',
      scope: { name: 'x', version: '1' },
      observedMs: 9,
      project: '',
    };
    const [one, other] = [1, 2].map(() => read(encodeLogs(toChangeRecords([change], about), 'protobuf'))[0]);
    expect(one).toMatchObject({
      eventName: 'automation.change',
      body: 'key keys/db: changed by bob',
      atMs: 8000,
      traceId: '',
    });
    expect(Object.fromEntries(one?.attributes ?? [])).toMatchObject({
      'automation.server.name': 'prod',
      'automation.change.kind': 'key',
      'automation.change.subject': 'keys/db',
      'automation.change.before': '1970-01-01T00:00:09.000Z',
      'user.name': 'bob',
    });
    expect([...(one?.resource.keys() ?? [])]).toEqual(['service.name']);
    expect(one?.attributes.get('log.record.uid')).toMatch(/^[0-9a-f]{32}$/);
    expect(other?.attributes.get('log.record.uid')).toBe(one?.attributes.get('log.record.uid'));
  });
});

it('sends no half of a surrogate pair', () => {
  const half = '\ud83d';
  const about = { server: 'prod', service: 'x', scope: { name: 'x', version: '1' }, observedMs: 9, project: half };
  const change = { kind: 'key', project: half, subject: half, what: half, by: half, afterMs: 1, beforeMs: 9 } as const;
  const cut = { ...change, subject: '\u{1f600}'.repeat(300), scope: 'job', fits: false } as const;
  const described = describeRoot(plan, { seen: undefined, suspects: [toSuspectText(cut)] });
  const all = [
    encodeLogs(toLineRecords({ ...plan, lines: [{ ...emptyLine, text: half }] }, 5000), 'json'),
    encodeLogs(toChangeRecords([change], about), 'json'),
    encodeTrace(described.trace, 'json'),
  ].map((bytes) => Buffer.from(bytes).toString());
  for (const json of all) expect(json).not.toMatch(/\\ud[89a-f]/);
  expect(all.join('')).toContain('\u{1f600}');
});

describe('tracing/enrich/send-lines', () => {
  function setUp(given: Partial<LineSending> = {}) {
    const dropped: string[] = [];
    let ticks = 0;
    const send = createSendLines(
      {
        spool: { hasRoom: async () => true, sizeOfLogs: async () => ({ traces: 0, bytes: 0 }) },
        bounds: { maxBytes: 1000, maxTraces: 10 },
        encode: () => ({ encoding: 'logs-protobuf', bytes: new Uint8Array(100) }),
        maxBytesPerHour: 250,
        dropped: (reason, count) => dropped.push(`${reason} ${count}`),
        ...given,
      },
      { now: () => 0, ticks: () => ticks },
    );
    const run = async (leftOut = 0): Promise<boolean> => {
      const { sent, done } = await send(plan, { lines, leftOut, removed: 0 });
      done();
      return sent !== undefined;
    };
    return { run, dropped, wait: (ms: number) => (ticks += ms) };
  }

  it('sends at most the number of lines that an hour allows', async () => {
    const { run, dropped, wait } = setUp();
    expect([await run(), await run(7), await run()]).toEqual([true, true, false]);
    expect(dropped.filter((each) => !each.endsWith(' 0'))).toEqual(['execution_limit 7', 'hour_limit 2']);
    wait(3_599_999);
    expect(await run()).toBe(false);
    wait(1);
    expect(await run()).toBe(true);
  });

  it.each([
    [true, { traces: 4, bytes: 499 }],
    [false, { traces: 5, bytes: 0 }],
    [false, { traces: 1, bytes: 500 }],
  ])('uses up to half of the spool for lines: %s', async (isSent, size) => {
    const { run, dropped } = setUp({
      spool: {
        hasRoom: async ({ maxBytes, maxTraces }) => maxBytes > 500 || maxTraces > 5,
        sizeOfLogs: async () => size,
      },
    });
    expect(await run()).toBe(isSent);
    expect(dropped.includes('spool_full 2')).toBe(!isSent);
  });
});
