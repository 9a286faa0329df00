import { describe, expect, it } from 'vitest';
import { executionOutput } from '../../src/api/endpoints/execution-output.ts';

const tail = (answer: object) => executionOutput.body.parse(answer);

describe('api/endpoints/execution-output', () => {
  it('reads the reason from the last error line that has a reason', () => {
    const entries = [
      { level: 'ERROR', log: 'Failed: HostNotFound: no such host' },
      { level: 'ERROR', log: 'Failed: NonZeroResultCode: Result code was 99' },
      { level: 'NORMAL', log: 'Failed: Nothing: said by a command' },
      { level: 'ERROR', log: 'Failed: to connect with canary' },
    ];
    expect(tail({ id: '4711', completed: true, entries }).failureReason).toBe('NonZeroResultCode');
  });

  it('skips debug lines, which may show secure options', () => {
    const entries = [
      { level: 'NORMAL', log: 'begins', stepctx: '2/1', node: 'db03', absolute_time: '2026-11-26T02:04:00Z' },
      { level: 'DEBUG', log: 'RD_OPTION_PASSWORD => canary' },
      { level: 'VERBOSE', log: 'canary' },
      { level: 'ERROR', log: 'Failed: IOFailure: disk', stepctx: '' },
    ];
    expect(tail({ completed: true, entries }).lines).toEqual([
      { level: 'NORMAL', text: 'begins', context: '2/1', node: 'db03', atMs: Date.parse('2026-11-26T02:04:00Z') },
      { level: 'ERROR', text: 'Failed: IOFailure: disk', context: undefined, node: undefined, atMs: undefined },
    ]);
  });

  it('reads the final text of a progress bar', () => {
    const log = `${'\r10 %'.repeat(9000)}\rconnection lost\r\nnext\r\n`;
    expect(tail({ completed: true, entries: [{ level: 'NORMAL', log }] }).lines).toMatchObject([
      { text: 'connection lost\nnext\n' },
    ]);
  });

  it.each([
    ['Failed: Unknown: Remote command failed with exit status 1', 'NonZeroResultCode'],
    ['Failed: Unknown: Exhausted available authentication methods', 'AuthenticationFailure'],
    ['Failed: Unknown: Connection refused', undefined],
    ['Failed: NonZeroResultCode: Result code was 2147483647', 'Interrupted'],
    ['Failed to start execution: java.lang.StackOverflowError: null', 'StackOverflowError'],
  ])('recognises the message of an executor: %s', (log, failureReason) => {
    expect(tail({ completed: true, entries: [{ level: 'ERROR', log }] }).failureReason).toBe(failureReason);
  });

  it('recognizes that a log limit stopped the run', () => {
    const reasonOf = (line: object) => {
      const stopped = { level: 'ERROR', log: 'Failed: NonZeroResultCode: Result code was 2147483647', stepctx: '1' };
      return tail({ completed: true, entries: [{ level: 'ERROR', ...line }, stopped] }).failureReason;
    };
    const log = 'Log output limit exceeded: Maximum Line count: 100, action: halt';
    expect(reasonOf({ log })).toBe('LogLimitExceeded');
    expect(reasonOf({ log, stepctx: '1' })).toBe('Interrupted');
    expect(reasonOf({ log: log.replace('halt', 'truncate') })).toBe('Interrupted');
  });

  it('recognizes a lost log', () => {
    const pending = { message: 'Pending', pending: 'Waiting', completed: false, execCompleted: true, entries: [] };
    expect(tail(pending)).toMatchObject({ isPending: true, isLost: false, failureReason: undefined, lines: [] });
    const begun = { completed: false, retryBackoff: 2000, entries: [{ level: 'ERROR', log: 'begun' }] };
    expect([tail(begun).isPending, tail({ ...begun, completed: true }).isPending]).toEqual([true, false]);
    const lost = { error: 'gone', empty: true, offset: '0', completed: true, entries: [] };
    expect(tail(lost)).toMatchObject({ isPending: false, isLost: true, failureReason: undefined, lines: [] });
  });

  it('reads where the next page begins', () => {
    const entries = [
      { level: 'VERBOSE', log: 'x' },
      { level: 'NORMAL', log: 'y' },
    ];
    const read = { offset: 1532, bytes: 9000, count: 2, isComplete: false };
    expect(tail({ completed: false, offset: '1532', totalSize: 9000, entries })).toMatchObject(read);
    expect(tail({ completed: true, entries })).toMatchObject({ offset: undefined, isComplete: true });
  });

  it('skips entries in compact form', () => {
    const entries = [{ level: 'ERROR', log: 'Failed: IOFailure: disk' }, 'a line', null, { log: 7 }];
    expect(tail({ completed: true, compacted: true, entries }).failureReason).toBe('IOFailure');
  });

  it.each([
    ['{3=JobFailed: Job [nightly/settle] failed}, status: failed]', 'JobFailed'],
    [
      '{1=Dispatch failed on 1 nodes: [web01: NonZeroResultCode: Result code was 1 + {dataContext=x} ]}]',
      'NonZeroResultCode',
    ],
    ['{1=Dispatch failed on 2 nodes: [a:22: odd, b: IOFailure: x]}]', 'NodeDispatchFailure'],
    ['{2=PluginFailed}, status: failed]', 'PluginFailed'],
    // The default SSH executor reports every failure with the same word.
    [
      '{1=Dispatch failed on 1 nodes: [web01: Unknown: Remote command failed with exit status 3 + {dataContext=x} ]}]',
      'NonZeroResultCode',
    ],
    ['{1=Dispatch failed on 1 nodes: [web01: Unknown: no route to host + {dataContext=x} ]}]', 'NodeDispatchFailure'],
    ['{2=Unknown: no word, 5=JobFailed: later}]', undefined],
    ['{2=something went wrong}]', undefined],
    ['nothing', undefined],
  ])('reads the reason from the summary line: step failures: %s', (failures, failureReason) => {
    const log = `Execution failed: 4711 in project pay: [Workflow result: , step failures: ${failures}`;
    const entries = [
      { level: 'ERROR', log },
      { level: 'NORMAL', log: 'step failures: {1=IOFailure: said by a command}' },
    ];
    expect(tail({ completed: true, entries }).failureReason).toBe(failureReason);
  });

  it('recognizes that no node matched', () => {
    const message = 'No matched nodes: NodeSet{includes={name=nosuch, dominant=false, }}';
    const lines = [
      `com.dtolabs.rundeck.core.NodesetEmptyException: ${message}`,
      '\tat com.dtolabs.rundeck.core.execution.workflow.BaseWorkflowExecutor.validateNodeSet(BaseWorkflowExecutor.java:880)',
      `Exception: class com.dtolabs.rundeck.core.NodesetEmptyException: ${message}`,
      message,
    ];
    const entries = lines.map((log) => ({ log, level: 'ERROR', user: 'admin', node: 'node0' }));
    expect(tail({ completed: true, entries }).failureReason).toBe('NoMatchedNodes');
  });

  it('reads the reason of the step in the summary', () => {
    const failed = (stepctx: string | undefined, reason: string) => ({
      level: 'ERROR',
      log: `Failed: ${reason}: x`,
      stepctx,
    });
    const summary = {
      level: 'ERROR',
      log: 'Execution failed: 1: [step failures: {3=JobFailed: Job failed}, status: failed]',
    };
    const reasonOf = (...entries: object[]) => tail({ completed: true, entries: [...entries, summary] }).failureReason;
    expect(reasonOf(failed('1', 'HostNotFound'), failed('3/2', 'NonZeroResultCode'))).toBe('NonZeroResultCode');
    expect(reasonOf(failed('3@node=web01/1', 'IOFailure'), failed('30', 'HostNotFound'))).toBe('IOFailure');
    expect(reasonOf(failed('1', 'HostNotFound'))).toBe('JobFailed');
    expect(reasonOf(failed(undefined, 'HostNotFound'))).toBe('HostNotFound');
  });

  it('is fast on lines of any length', () => {
    const log = `x step failures: {1=Dispatch failed on 1 nodes: [${'a'.repeat(5_000_000)}`;
    expect(tail({ completed: true, entries: [{ level: 'ERROR', log }] }).failureReason).toBe('NodeDispatchFailure');
  });
});
