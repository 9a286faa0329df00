import { describe, expect, it } from 'vitest';
import type { SpanSource, TracedExecution } from '../../src/domain/span-source.ts';
import { planTrace } from '../../src/tracing/plan/plan-trace.ts';
import type { TraceSettings } from '../../src/tracing/plan/settings.ts';
import { planRecorded, planSource, readRecorded, settings } from './recorded.ts';

function planChanged(
  changes: Partial<TracedExecution>,
  beside: Partial<SpanSource> = {},
  set: Partial<TraceSettings> = {},
) {
  const source = readRecorded('no-state');
  const plan = planSource({ ...source, ...beside, execution: { ...source.execution, ...changes } }, set);
  return { ...plan, root: plan.trace.spans[0] };
}

describe('tracing/plan-trace', () => {
  it('sets the fields of the execution on the root and the resource', () => {
    const { trace } = planRecorded('delayed-retry');
    expect(trace.resource).toEqual({
      'service.name': 'automation-service',
      'service.version': '5.3.0',
      'cicd.pipeline.name': 'shop/load/etl/nightly',
      'cicd.pipeline.run.id': '4711',
      'cicd.pipeline.run.url.full': 'https://automation.example.org/project/shop/execution/show/4711',
      'cicd.worker.id': '3a7d-member',
      'cicd.worker.name': 'auto-1',
      'automation.server.name': 'main',
      'telemetry.distro.name': 'automation-exporter',
      'telemetry.distro.version': '0.1.0',
    });
    expect(trace.spans[0]).toEqual({
      id: '307b5cfc9224f771',
      parentId: undefined,
      name: 'RUN shop/load/etl/nightly',
      kind: 'server',
      startMs: 1716200000123,
      endMs: 1716200039456,
      isError: true,
      attributes: {
        'cicd.pipeline.action.name': 'RUN',
        'cicd.pipeline.result': 'failure',
        'error.type': 'NonZeroResultCode',
        'automation.failure.class': 'work',
        'process.exit.code': 1,
        'automation.project.name': 'shop',
        'automation.job.id': '5f1c',
        'automation.job.group': 'load/etl',
        'automation.job.name': 'nightly',
        'automation.job.average_duration': 5.123,
        'automation.execution.trigger': 'user',
        'automation.execution.retry.attempt': 1,
        'automation.execution.will_retry': true,
        'automation.execution.node.failed_count': 1,
      },
      links: [
        {
          traceId: '4342d80e2829da2c047fd9183de7c58e',
          spanId: '18fbc4fe12614824',
          attributes: { 'automation.link': 'retried_by' },
        },
        {
          traceId: '30f8e0c3359a1d1a714b1cff08eefd4b',
          spanId: 'ab4a3df953aaf8da',
          attributes: { 'automation.link': 'retry_of' },
        },
      ],
      why: 'the execution failed and is retried: first failure NonZeroResultCode',
    });
  });

  it('sets the fields of the node state on the node of a step', () => {
    const { trace } = planRecorded('failed-node');
    expect(trace.spans.find(({ name }) => name === 'web02')).toMatchObject({
      kind: 'internal',
      isError: true,
      attributes: {
        'cicd.pipeline.task.name': 'Build',
        'cicd.pipeline.task.run.id': '1@web02',
        'cicd.pipeline.task.run.url.full': 'https://automation.example.org/project/shop/execution/show/4711',
        'cicd.pipeline.task.run.result': 'failure',
        'error.type': 'NonZeroResultCode',
        'automation.node.name': 'web02',
        'automation.span.clamped': true,
      },
    });
  });

  it.each([
    ['succeeded', undefined, 'success', undefined, false],
    ['failed', undefined, 'failure', '_OTHER', false],
    ['failed-with-retry', undefined, 'failure', '_OTHER', false],
    ['timedout', undefined, 'timeout', 'timeout', false],
    ['aborted', undefined, 'cancellation', undefined, false],
    ['other', 'incomplete', 'error', 'incomplete', false],
    ['other', 'reviewed', 'success', undefined, false],
    ['other', 'held', 'cancellation', undefined, false],
    ['other', 'late', 'timeout', 'timeout', false],
    ['other', 'broken', 'error', '_OTHER', false],
    ['other', 'constructor', 'failure', '_OTHER', false],
    ['other', undefined, 'error', '_OTHER', true],
    ['scheduled', undefined, 'error', '_OTHER', true],
    ['running', undefined, 'error', '_OTHER', true],
  ] as const)('converts %s (%s) to %s, %s', (...row) => {
    const [status, customStatus, result, errorType, isUnknown] = row;
    const customStatuses = { reviewed: 'success', held: 'cancellation', late: 'timeout', broken: 'error' } as const;
    const plan = planChanged({ status, customStatus }, {}, { customStatuses });
    expect(plan.root?.attributes).toMatchObject({ 'cicd.pipeline.result': result });
    expect(plan.root?.attributes['error.type']).toBe(errorType);
    expect(plan.root?.attributes['automation.execution.custom_status']).toBe(customStatus);
    expect(plan.root?.isError).toBe(!['success', 'cancellation'].includes(result));
    expect(plan.isUnknown).toBe(isUnknown);
  });

  it('treats an empty custom status as unknown', () => {
    const plan = planChanged({ status: 'other', customStatus: '' });
    expect([plan.isUnknown, plan.root?.attributes['cicd.pipeline.result']]).toEqual([true, 'error']);
  });

  it('shows no delay for an execution that started early', () => {
    const { root } = planChanged({}, { expectedAtMs: 1716200000124 });
    expect(root?.attributes['automation.schedule.delay']).toBe(0);
  });

  it('uses the next reason if the first failed step has none', () => {
    const source = readRecorded('recovered-then-failed');
    const [first, , ...others] = source.state?.steps ?? [];
    if (first === undefined || source.state === undefined) throw new Error('it has three steps');
    const nodes = first.nodes.map((node) => ({ ...node, failureReason: undefined }));
    const steps = [{ ...first, failureReason: undefined, nodes }, ...others];
    const { trace } = planSource({ ...source, state: { ...source.state, steps } });
    expect(trace.spans.map(({ isError, attributes }) => [isError, attributes['error.type']])).toEqual([
      [true, 'NonZeroResultCode'],
      [true, '_OTHER'],
      [true, 'NonZeroResultCode'],
      [true, 'NonZeroResultCode'],
    ]);
  });

  it('makes no trace of an unfinished or a missed run', () => {
    const source = readRecorded('no-state');
    expect(
      planTrace({ ...source, execution: { ...source.execution, endedAtMs: undefined } }, settings),
    ).toBeUndefined();
    expect(planTrace({ ...source, execution: { ...source.execution, status: 'missed' } }, settings)).toBeUndefined();
  });

  it('uses the reason of the log only if the state contains no reason', () => {
    const failed = { status: 'failed' } as const;
    const reasonOf = (loggedReason: string) => planChanged(failed, { loggedReason }).root?.attributes['error.type'];
    expect(reasonOf('AuthenticationFailure')).toBe('AuthenticationFailure');
    expect(reasonOf('NotFound')).toBe('NotFound');
    expect(reasonOf('SomethingOfAPlugin')).toBe('_OTHER');
    const source = readRecorded('failed-node');
    const plan = planSource({ ...source, loggedReason: 'IOFailure' });
    expect(plan.trace.spans[0]?.attributes['error.type']).toBe('NonZeroResultCode');
  });

  it('sets an id for each worker that has a name', () => {
    const { state } = readRecorded('succeeded');
    const workerOf = (serverUuid: string | undefined, beside: Partial<SpanSource>) => {
      const { resource } = planChanged({ serverUuid }, beside).trace;
      return [resource['cicd.worker.id'], resource['cicd.worker.name']];
    };
    expect(workerOf('3a7d-member', { state })).toEqual(['3a7d-member', 'auto-1']);
    expect(workerOf(undefined, { state })).toEqual(['auto-1', 'auto-1']);
    expect(workerOf('3a7d-member', {})).toEqual(['3a7d-member', undefined]);
    expect(workerOf(undefined, {})).toEqual([undefined, undefined]);
  });

  it('reports the delay of a start', () => {
    const { root } = planChanged({}, { expectedAtMs: 1716199998000, degraded: 'backlog' });
    expect(root?.attributes).toMatchObject({
      'automation.schedule.delay': 2.123,
      'automation.trace.degraded': 'backlog',
    });
  });

  it('names the person who aborted an execution', () => {
    const toAborter = (status: TracedExecution['status']) =>
      planChanged({ status, abortedBy: 'alice' }, {}, { withUserNames: true }).root?.attributes[
        'automation.execution.aborted_by'
      ];
    expect([toAborter('aborted'), toAborter('failed')]).toEqual(['alice', undefined]);
  });

  it('distinguishes a command from a deleted job', () => {
    const adhoc = planChanged({ job: undefined });
    const deleted = planChanged({ job: undefined, isJobDeleted: true });
    expect([adhoc.root?.name, adhoc.root?.attributes['automation.execution.adhoc']]).toEqual(['RUN', true]);
    expect([deleted.root?.name, deleted.root?.attributes['automation.execution.adhoc']]).toEqual(['RUN', undefined]);
    expect(adhoc.trace.resource).not.toHaveProperty('cicd.pipeline.name');
  });

  it('has no counts of nodes if there are no nodes', () => {
    const names = Object.keys(planChanged({}).root?.attributes ?? {});
    expect(names.filter((name) => name.includes('count'))).toEqual([]);
  });

  it('accepts an end before the start, and times before 1970', () => {
    expect(planChanged({ startedAtMs: 5000, endedAtMs: 1000 }).root).toMatchObject({
      startMs: 5000,
      endMs: 5000,
      attributes: { 'automation.span.clamped': true },
    });
    expect(planChanged({ startedAtMs: -5, endedAtMs: 1e300 }).root).toMatchObject({ startMs: 0, endMs: 9e12 });
  });
});
