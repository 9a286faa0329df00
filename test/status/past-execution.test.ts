import { describe, expect, it } from 'vitest';
import { toPastExecution } from '../../src/status/past-execution.ts';
import { planRecorded, planSource, readRecorded } from '../tracing/recorded.ts';

const of = { server: 'prod', id: 4711, isSent: true };
const hasPage = (server: string, id: number): boolean => server === 'prod' && id === 4710;

function tell(...given: Parameters<typeof planRecorded>) {
  const past = toPastExecution(planRecorded(...given), of, hasPage);
  if (past === undefined) throw new Error('It tells nothing.');
  return past;
}

function toLines(past: ReturnType<typeof tell>): string {
  return past.spans
    .map(({ depth, name, path, result, hasFailed, why, remarks }) => {
      const words = [hasFailed ? '!' : ' ', name, path ?? '-', result ?? '-', `(${[why, ...remarks].join('; ')})`];
      return `${'  '.repeat(depth)}${words.join(' ')}\n`;
    })
    .join('');
}

describe('status/past-execution', () => {
  it('describes every span: its name, depth and reason', () => {
    expect(
      toLines(tell('failed-handler')),
    ).toBe(`! RUN shop/load/etl/nightly - failure (the execution failed: first failure NonZeroResultCode)
  ! step 1 1 failure (failed, NonZeroResultCode below)
    ! step 1/1 1/1 failure (failed, NonZeroResultCode below)
      ! web01 1/1@web01 failure (failed, NonZeroResultCode)
    ! step 1/1e 1/1e failure (failed, ConnectionTimeout below; an error handler)
      ! web01 1/1e@web01 failure (failed, ConnectionTimeout; an error handler)
`);
  });

  it.each([
    ['failed-node', ['1@web02']],
    ['failed-handler', ['1/1@web01']],
    ['aborted', []],
  ])('marks the span of the first cause: %s', (name, paths) => {
    const causes = tell(name).spans.filter(({ isFirstCause }) => isFirstCause === true);
    expect(causes.map(({ path }) => path)).toEqual(paths);
  });

  it('describes the execution by the attributes of its root', () => {
    expect(toPastExecution(planRecorded('failed-node'), { ...of, isSent: false }, hasPage)?.traceId).toBeUndefined();
    const { spans: _, ...whole } = tell('failed-node');
    expect(whole).toEqual({
      server: 'prod',
      id: 4711,
      project: 'shop',
      job: 'load/etl/nightly',
      traceId: 'f45e4a6a6cb0f6a2569d62819cbf45ac',
      permalink: 'https://automation.example.org/project/shop/execution/show/4711',
      attempts: [],
      lines: [],
      areOfStep: false,
      facts: [
        { name: 'Average of the job', value: '5.1 s' },
        { name: 'Reason', value: 'NonZeroResultCode' },
        { name: 'Nodes that failed', value: 1 },
        { name: 'Nodes that succeeded', value: 1 },
        { name: 'Started by', value: 'user' },
      ],
      notes: [],
    });
  });

  it("shows the server's own word for a reason", () => {
    const reasonOf = (past: ReturnType<typeof tell>) => past.facts.find(({ name }) => name === 'Reason')?.value;
    expect(tell('custom-status').spans.map(({ why }) => why)).toEqual([
      'the execution ended with a custom status: first failure another reason',
      'failed, another reason',
    ]);
    expect(reasonOf(tell('custom-status'))).toBe('VendorTrouble');
    expect(reasonOf(tell('unknown-status'))).toBeUndefined();
    const source = readRecorded('no-state');
    const logged = planSource({
      ...source,
      execution: { ...source.execution, status: 'failed' },
      loggedReason: 'OfAPlugin',
    });
    const past = toPastExecution(logged, of, hasPage);
    expect(past?.spans[0].why).toBe('the execution failed; the log gives another reason');
    expect(past && reasonOf(past)).toBe('OfAPlugin');
  });

  it('distinguishes lines of the failed step from lines of the whole log', () => {
    const plan = planRecorded('failed-node');
    const { node, context = '' } = plan.failure ?? {};
    const areOfStep = (where: string | undefined) => {
      const line = { level: 'WARN', text: 'disk full', node, context: where, atMs: undefined } as const;
      return toPastExecution({ ...plan, lines: [line] }, { ...of, isSent: false }, hasPage)?.areOfStep;
    };
    expect([areOfStep(context), areOfStep(`${context}1`), areOfStep(undefined)]).toEqual([true, false, false]);
  });

  it('names users only if configured', () => {
    const names = (changes: Parameters<typeof tell>[1]) => tell('aborted', changes).facts.map(({ name }) => name);
    expect(names({})).toEqual(['Average of the job', 'Started by']);
    expect(names({ withUserNames: true })).toEqual(['Average of the job', 'Started by', 'User', 'Aborted by']);
  });

  it('reports the missing parts of a trace', () => {
    expect(tell('per-node-reference', { maxSpans: 5 }).notes).toEqual([
      'The trace leaves out 12 spans over the limit; rows named “more” stand for these spans.',
    ]);
    const degraded = planSource({ ...readRecorded('succeeded'), degraded: 'backlog' });
    expect(toPastExecution(degraded, of, hasPage)?.notes).toEqual([
      'The steps were not read because too many executions were waiting.',
    ]);
  });

  it('returns nothing for a trace without spans', () => {
    const plan = planRecorded('succeeded');
    expect(toPastExecution({ ...plan, trace: { ...plan.trace, spans: [] } }, of, hasPage)).toBeUndefined();
  });

  it('has a name for an execution without a job', () => {
    expect(tell('ad-hoc').job).toBe('ad hoc');
    const source = readRecorded('succeeded');
    const deleted = planSource({ ...source, execution: { ...source.execution, job: undefined, isJobDeleted: true } });
    expect(toPastExecution(deleted, of, hasPage)?.job).toBe('a job that was deleted');
  });

  it('marks adjusted times', () => {
    expect(tell('per-node-reference').spans.map(({ isFitted }) => isFitted)).toContain(true);
  });

  it('lists the attempts before and after an execution', () => {
    const source = readRecorded('no-state');
    const execution = { ...source.execution, nextAttemptId: 4712 };
    const plan = planSource({ ...source, execution, previousAttemptId: 4710 });
    expect(toPastExecution(plan, of, hasPage)?.attempts).toEqual([
      { relation: 'retry of', id: 4710, hasPage: true },
      { relation: 'retried by', id: 4712, hasPage: false },
    ]);
  });
});
