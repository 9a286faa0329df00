import { describe, expect, it } from 'vitest';
import { isSoundPending, toPendingDocument } from '../../../src/tracing/enrich/pending.ts';
import { someRun } from '../../executions/some-execution.ts';

const sound = { id: 7, project: 'pay', startedAtMs: 1, endedAtMs: null, seenAtMs: 3, failedNodes: [] };
const { kind } = toPendingDocument({ ...someRun(), ...sound, endedAtMs: 2, epoch: 1 });

describe('tracing/enrich/pending', () => {
  it('accepts a stored row that can become a trace', () => {
    expect(isSoundPending(kind, sound)).toBe(true);
  });

  it.each([
    ['a time', { startedAtMs: 'soon' }],
    ['an id', { id: '7' }],
    ['a project', { project: 7 }],
    ['a list of nodes', { failedNodes: 'web01' }],
  ])('refuses a stored row that lacks %s', (_, wrong) => {
    expect(isSoundPending(kind, { ...sound, ...wrong })).toBe(false);
  });
});
