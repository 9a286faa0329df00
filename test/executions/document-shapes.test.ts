import { describe, expect, it } from 'vitest';
import { isSoundDocument } from '../../src/executions/ledger/document-shapes.ts';

const cell = { kind: 'runs', labels: ['pay', '', 'settle'], count: 3, isReleased: true };

describe('executions/document-shapes', () => {
  it('accepts all kinds of stored documents', () => {
    const run = {
      id: 7,
      project: 'pay',
      group: '',
      name: 'settle',
      ending: 'success',
      startedAtMs: null,
      endedAtMs: 2,
    };
    const sound = [
      ['server', { epoch: 1, epochStartedAtMs: 0, buckets: [1, 2] }],
      ['project', { project: 'pay', countedFromMs: 1.5, scannedThroughMs: 2, rereadThroughMs: 2, hold: 'hidden' }],
      ['cell', cell],
      ['cell', { ...cell, kind: 'durations', sumSeconds: 1.5, buckets: [0, 3] }],
      ['job', { project: 'pay', group: '', name: 'settle', lastEndMs: 2, lastId: 7, consecutiveFailures: 0 }],
      ['id-hour', { hour: 1, leastId: 1, greatestId: 7 }],
      ['recent', [run]],
      ['recent', run],
      ['pending-trace', 'whatever'],
    ] as const;
    expect(sound.filter(([kind, body]) => !isSoundDocument(kind, body))).toEqual([]);
  });

  it('refuses documents that would make every round fail', () => {
    const damaged = [
      ['server', null],
      ['project', { project: 7, countedFromMs: 1, scannedThroughMs: 2 }],
      ['cell', { ...cell, labels: undefined }],
      ['cell', { ...cell, labels: 'pay' }],
      ['cell', { ...cell, buckets: [0, '3'] }],
      ['job', []],
      ['id-hour', { hour: 1, leastId: '1', greatestId: 7 }],
      ['recent', [{}]],
    ] as const;
    expect(damaged.filter(([kind, body]) => isSoundDocument(kind, body))).toEqual([]);
  });
});
