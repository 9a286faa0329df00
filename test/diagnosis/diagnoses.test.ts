import { describe, expect, it } from 'vitest';
import { chooseLines } from '../../src/diagnosis/lines/choose.ts';
import { createDiagnoses, toFingerprint } from '../../src/diagnosis/lines/diagnoses.ts';
import { createScrub } from '../../src/diagnosis/lines/scrub.ts';
import { addKnown, type Known, refresh } from '../../src/diagnosis/lines/seen.ts';
import { toCauseText, toSentence } from '../../src/diagnosis/lines/sentence.ts';
import type { FirstCause, LogLine, Seen } from '../../src/domain/failure-class.ts';
import { createMemoryLedger } from '../executions/memory-ledger.ts';

const atMs = Date.parse('2026-11-26T02:04:00Z');
const cause: FirstCause = { failureClass: 'access', reason: 'AuthenticationFailure', node: 'db03', context: '2' };

function setScene() {
  const ledger = createMemoryLedger();
  const open = async () => {
    const diagnoses = createDiagnoses(createScrub());
    diagnoses.load(await ledger.load('prod'));
    return async (name: string, text: string, hours: number, jobId?: string): Promise<Seen | undefined> => {
      const job = `pay/nightly/${name}`;
      const lines = [{ level: 'WARN', text, node: 'db03', context: '2', atMs: undefined } as const];
      const { seen, documents, done } = diagnoses.note(
        { job, jobId, endedAtMs: atMs + hours * 3_600_000 },
        cause,
        lines,
      );
      await ledger.commit('prod', { documents });
      done();
      return seen;
    };
  };
  return { ledger, open };
}

const say = (seen: Seen | undefined, hours: number) =>
  toSentence(
    { ...cause, job: 'pay/nightly/settle', endedAtMs: atMs + hours * 3_600_000, seen },
    atMs + hours * 3_600_000,
  );

describe('diagnosis/lines/diagnoses', () => {
  it('recognises an earlier failure of a job after restarts', async () => {
    const { open } = setScene();
    const note = await open();
    expect(say(await note('settle', 'key 17 refused', 0), 0)).toBe(
      'pay/nightly/settle failed at 02:04 UTC on db03: access (AuthenticationFailure), for the first time.',
    );
    await note('settle', 'disk full', 1);
    const later = await open();
    expect(say(await later('settle', 'key 4 refused', 2), 2)).toBe(
      'pay/nightly/settle failed at 04:04 UTC on db03: access (AuthenticationFailure), 2nd since 02:04 UTC, the previous one 2 h earlier.',
    );
    expect((await later('sync', 'key 9 refused', 3))?.alsoIn).toBe('pay/nightly/settle');
    // The first failure becomes known late.
    expect(say(await later('settle', 'key 5 refused', -1), -1)).toContain(', for the first time, also in');
    expect(say(await later('settle', 'key 6 refused', 5), 5)).toContain(
      '4th since 01:04 UTC, the previous one 3 h earlier',
    );
  });

  it('recognises an earlier failure of a job that was renamed', async () => {
    const { ledger, open } = setScene();
    const note = await open();
    await note('settle', 'key 17 refused', 0);
    await note('settle', 'key 17 refused', 1, 'j1');
    const later = await open();
    expect(await later('settle-all', 'key 4 refused', 2, 'j1')).toMatchObject({ count: 3, alsoIn: undefined });
    expect((await ledger.load('prod')).some(({ key }) => key === 'pay/nightly/settle')).toBe(false);
    // A job with a new id continues the history of its name.
    expect(await later('settle-all', 'key 4 refused', 3, 'j2')).toMatchObject({ count: 4 });
    expect(await later('settle', 'key 4 refused', 4, 'j3')).toMatchObject({
      count: 1,
      alsoIn: 'pay/nightly/settle-all',
    });
  });

  it('recognises earlier failures of a job that took the name of another job', async () => {
    const note = await setScene().open();
    await note('settle', 'key 17 refused', 0, 'j1');
    await note('sync', 'disk full', 1, 'j2');
    expect(await note('settle', 'disk full', 2, 'j2')).toMatchObject({ count: 2 });
  });

  it('counts the other nodes that failed', () => {
    const failed = { ...cause, job: 'pay/settle', endedAtMs: atMs, otherNodes: 149 };
    expect(toSentence(failed, atMs)).toMatch(/ on db03: access .*; 149 other nodes failed too\.$/);
  });

  it('keeps fifty fingerprints of a job', async () => {
    const { ledger, open } = setScene();
    const note = await open();
    for (let code = 100; code < 160; code += 1) {
      await note('settle', `ORA-${code}: canary`, code);
      if (code % 20 === 0) await note('settle', 'disk full', code);
    }
    const bodies = (await ledger.load('prod')).map(({ body = '' }) => body).join('\n');
    expect(bodies).not.toContain('canary');
    expect(bodies.match(/v1:/g)).toHaveLength(50);
    // The newest fingerprints are kept.
    expect((await note('settle', 'ORA-159: canary', 160))?.count).toBe(2);
    expect((await note('settle', 'ORA-109: canary', 161))?.count).toBe(1);
    // A repeated fingerprint is kept, although fifty others appeared meanwhile.
    expect((await note('settle', 'disk full', 162))?.count).toBe(4);
  });

  it('describes the first cause', () => {
    expect(
      toCauseText({ failureClass: 'work', reason: 'NonZeroResultCode', exitCode: 3, step: '2 (Settle)', node: 'db03' }),
    ).toBe('work (NonZeroResultCode), exit code 3, step 2 (Settle) on db03');
    expect(toCauseText({ failureClass: 'unread' })).toBe('unread');
  });
});

it('ignores lines about the next step if a step has no output', () => {
  const line = (text: string, more: Partial<LogLine> = {}): LogLine => ({
    level: 'ERROR',
    text,
    node: 'node0',
    context: undefined,
    atMs: undefined,
    ...more,
  });
  const next =
    "[wf:39e90280-67f7-4c66-b645-d5211153e7be] Step [2] did not run. start conditions: [(after.step.1 == 'true')]";
  const lines = [
    line('Result: 3', { context: '1' }),
    line('Failed: NonZeroResultCode: Result code was 3', { context: '1' }),
    line(next, { level: 'WARN' }),
    line('Execution failed: 187 in project alpha: [Workflow result: , step failures: {1=Dispatch failed on 1 nodes'),
  ];
  expect(chooseLines(lines, { node: 'node0', context: '1' })).toEqual([]);
});

describe('diagnosis/lines/seen', () => {
  it.each([
    ['in order', [1, 2, 3, 4]],
    ['the newest first', [4, 3, 2, 1]],
    ['out of order', [1, 4, 2, 3]],
  ])('counts earlier failures in the order of their ends, if the failures become known %s', (_, ends) => {
    let known: readonly Known[] = [];
    const first = new Map<number, Seen>();
    for (const end of ends) {
      const added = addKnown(known, 'v1:a', end);
      known = added.known;
      first.set(end, added.seen);
    }
    const now = [1, 2, 3, 4].map((end) =>
      refresh(first.get(end) ?? { fingerprint: '', firstMs: 0, count: 0 }, known, end),
    );
    expect(now).toEqual(
      [1, 2, 3, 4].map((end) => ({
        fingerprint: 'v1:a',
        firstMs: 1,
        count: end,
        beforeMs: end === 1 ? undefined : end - 1,
      })),
    );
  });

  it('reads the state of an earlier release', () => {
    const { seen } = addKnown([{ fingerprint: 'v1:a', firstMs: 1, lastMs: 5, count: 3 }], 'v1:a', 6);
    expect(seen).toEqual({ fingerprint: 'v1:a', firstMs: 1, count: 4, beforeMs: 5 });
  });
});

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
  ])('gives one fingerprint to lines that differ only in values: %s', (one, other) => {
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

  it('counts repeated lines once, and ignores stack frames', () => {
    expect(of('retry 1', 'retry 2', 'Exception: x', '\tat a.B.c(B.java:7)')).toBe(of('retry 1', 'Exception: x'));
  });

  it('differs with another key', () => {
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

  it('uses errors of the failed step on the failed node', () => {
    const failed = line('Failed: NonZeroResultCode: Result code was 1', { level: 'ERROR' });
    const error = line('disk is full', { level: 'ERROR' });
    const others = [line('no', { level: 'ERROR', node: 'db04' }), line('no', { level: 'ERROR', context: '1' })];
    const result = line('Result: 3', { level: 'ERROR' });
    expect(choose(...others, line('ok'), error, result, failed)).toEqual(['disk is full']);
    // The server writes the standard error of a local command as output.
    expect(choose(line('no such table'), result, failed)).toEqual(['no such table']);
  });

  it('uses the last lines if there is no standard error', () => {
    expect(choose(line('a'), line('b', { level: 'WARN' }))).toEqual(['b']);
    expect(choose(line('a'), line('b'), line('c'), line('d'))).toEqual(['b', 'c', 'd']);
  });

  it('also uses lines of the error handler', () => {
    const handler = line('cannot clean up', { level: 'ERROR', context: '2e' });
    const child = line('in a job', { level: 'ERROR', context: '2e/1' });
    expect(choose(line('disk is full', { level: 'ERROR' }), handler, child)).toEqual([
      'disk is full',
      'cannot clean up',
    ]);
  });

  it('uses lines without a step if the step wrote no lines', () => {
    const noNodes = 'com.dtolabs.rundeck.core.NodesetEmptyException: No matched nodes';
    const earlier = line('no', { level: 'ERROR', context: '1' });
    expect(choose(earlier, line(noNodes, { level: 'ERROR', context: undefined, node: undefined }))).toEqual([noNodes]);
  });
});
