import { describe, expect, it } from 'vitest';
import { executionOutput } from '../../src/api/endpoints/execution-output.ts';

const tail = (answer: object) => executionOutput.body.parse(answer);

describe('api/endpoints/execution-output', () => {
  it('takes the reason of the last error line that has one, and no line', () => {
    const entries = [
      { level: 'ERROR', log: 'Failed: HostNotFound: no such host' },
      { level: 'ERROR', log: 'Failed: NonZeroResultCode: Result code was 99' },
      { level: 'NORMAL', log: 'Failed: Nothing: said by a command' },
      { level: 'ERROR', log: 'Failed: to connect with canary' },
    ];
    expect(tail({ id: '4711', completed: true, entries })).toEqual({
      isPending: false,
      failureReason: 'NonZeroResultCode',
    });
  });

  it('knows a log that is on its way, and one that was lost', () => {
    const pending = { message: 'Pending', pending: 'Waiting', completed: false, execCompleted: true, entries: [] };
    expect(tail(pending)).toEqual({ isPending: true, failureReason: undefined });
    const lost = { error: 'gone', empty: true, offset: '0', completed: true, entries: [] };
    expect(tail(lost)).toEqual({ isPending: false, failureReason: undefined });
  });

  it('passes over entries in compact form', () => {
    const entries = [{ level: 'ERROR', log: 'Failed: IOFailure: disk' }, 'a line', null, { log: 7 }];
    expect(tail({ completed: true, compacted: true, entries }).failureReason).toBe('IOFailure');
  });
});
