import { describe, expect, it } from 'vitest';
import { chooseLines } from '../../src/diagnosis/lines/choose.ts';
import { toFingerprint } from '../../src/diagnosis/lines/fingerprint.ts';
import type { LogLine } from '../../src/domain/failure-class.ts';

const of = (...texts: string[]) => toFingerprint(texts, 'key');

describe('diagnosis/lines/fingerprint', () => {
  it.each([
    [
      '2026-11-26 02:04:11,123 [pool-3-thread-7] ERROR x.Y - order 4711 failed',
      '2026-12-01 23:59:01,000 [pool-1-thread-12] ERROR x.Y - order 9 failed',
    ],
    [
      'connect to db03.example port 22: Connection timed out',
      'connect to db17.example port 2222: Connection timed out',
    ],
    ['cannot open /tmp/rd.x7Gh/run.sh: No space', 'cannot open /tmp/rd.0pQa/run.sh: No space'],
    ['user "alice" has no right to 10.0.0.4:5432', 'user "bob" has no right to 192.168.1.20:5432'],
    ['\u001B[31mfailed after 12.5s\u001B[0m', 'failed after 3s'],
    ['request 6fa459ea-ee8a-3ca4-894e-db77e160355e at 0x7f3a', 'request 11111111-2222-3333-4444-555555555555 at 0x1'],
    ['/srv/app/2026/11/orders.csv is empty', '/srv/app/2025/01/returns.csv is empty'],
  ])('is equal for other values: %s', (one, other) => {
    expect(of(one)).toBe(of(other));
    expect(of(one)).toMatch(/^v1:[0-9a-f]{16}$/);
  });

  it.each([
    ['ORA-01017: logon denied', 'ORA-00942: logon denied'],
    ['Connection refused', 'Connection timed out'],
    ['No space left on device', 'Permission denied'],
  ])('differs for %s and %s', (one, other) => {
    expect(of(one)).not.toBe(of(other));
  });

  it('counts repeated lines once, and stack frames not at all', () => {
    expect(of('retry 1', 'retry 2', 'Exception: x', '\tat a.B.c(B.java:7)')).toBe(of('retry 1', 'Exception: x'));
  });

  it('differs for another key, and is undefined without content', () => {
    expect(toFingerprint(['x failed'], 'one')).not.toBe(toFingerprint(['x failed'], 'other'));
    expect(of('', '  ')).toBeUndefined();
  });
});

describe('diagnosis/lines/choose', () => {
  const line = (text: string, changes: Partial<LogLine> = {}): LogLine => ({
    level: 'NORMAL',
    text,
    node: 'db03',
    context: '2',
    atMs: undefined,
    ...changes,
  });
  const choose = (...lines: LogLine[]) => chooseLines(lines, { node: 'db03', context: '2' }).map(({ text }) => text);

  it('uses errors of the failed step on the failed node, and not the lines that the server adds', () => {
    const failed = line('Failed: NonZeroResultCode: Result code was 1', { level: 'ERROR' });
    const error = line('disk is full', { level: 'ERROR' });
    const others = [line('no', { level: 'ERROR', node: 'db04' }), line('no', { level: 'ERROR', context: '1' })];
    const result = line('Result: 3', { level: 'ERROR' });
    expect(choose(...others, line('ok'), error, result, failed)).toEqual(['disk is full']);
    // The server writes the standard error of a local command as output.
    expect(choose(line('no such table'), result, failed)).toEqual(['no such table']);
  });

  it('uses standard error, otherwise the last lines', () => {
    expect(choose(line('a'), line('b', { level: 'WARN' }))).toEqual(['b']);
    expect(choose(line('a'), line('b'), line('c'), line('d'))).toEqual(['b', 'c', 'd']);
  });

  it('uses the lines of the error handler of the failed step too, because the exit code is that of the handler', () => {
    const handler = line('cannot clean up', { level: 'ERROR', context: '2e' });
    const child = line('in a job', { level: 'ERROR', context: '2e/1' });
    expect(choose(line('disk is full', { level: 'ERROR' }), handler, child)).toEqual([
      'disk is full',
      'cannot clean up',
    ]);
  });

  it('uses lines without a step if the step wrote none', () => {
    const noNodes = 'com.dtolabs.rundeck.core.NodesetEmptyException: No matched nodes';
    const earlier = line('no', { level: 'ERROR', context: '1' });
    expect(choose(earlier, line(noNodes, { level: 'ERROR', context: undefined, node: undefined }))).toEqual([noNodes]);
  });
});
