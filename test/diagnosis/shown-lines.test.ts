import { describe, expect, it } from 'vitest';
import { createScrub } from '../../src/diagnosis/lines/scrub.ts';
import { keepLines } from '../../src/diagnosis/lines/shown-lines.ts';
import type { LogLine } from '../../src/domain/failure-class.ts';

const cause = { node: 'db03', context: '2@node=db03/1' };
const line = (text: string, more: Partial<LogLine> = {}): LogLine => ({
  level: 'NORMAL',
  text,
  node: 'db03',
  context: '2/1',
  atMs: 1000,
  ...more,
});
const keep = (lines: readonly LogLine[]) => keepLines(lines, cause, createScrub());

it('keeps the last 50 lines of the failed step', () => {
  const lines = Array.from({ length: 80 }, (_, at) => line(`line ${at}`));
  const { lines: kept, leftOut } = keep([
    ...lines,
    line('other node', { node: 'db04' }),
    line('other', { context: '3' }),
  ]);
  expect(kept.map(({ text }) => text)).toEqual(lines.slice(30).map(({ text }) => text));
  expect(leftOut).toBe(30);
});

it('keeps at most 16 KiB of a log', () => {
  const { lines, leftOut } = keep(Array.from({ length: 10 }, () => line('é'.repeat(2000))));
  expect(lines).toHaveLength(4);
  expect(leftOut).toBe(6);
});

it('removes secrets from a long line before it cuts the line', () => {
  const { lines } = keep([line('before'), line(`${'é'.repeat(1997)}\u{1f511} password=hunter2 ${'x'.repeat(20_000)}`)]);
  expect(lines.map(({ text }) => text)).toEqual(['before', `${'é'.repeat(1997)}\u{1f511}…`]);
  expect(keep([line(`${'é'.repeat(1998)}\u{1f511}x`)]).lines[0]?.text).toBe(`${'é'.repeat(1998)}\u{fffd}…`);
});

it('keeps the end of a log that names no step', () => {
  const { lines } = keep([line('a', { context: undefined }), line(' '), line('b', { context: undefined })]);
  expect(lines.map(({ text }) => text)).toEqual(['a', 'b']);
});

it('removes secrets with colours or invisible characters in them, and keys that begin above the kept lines', () => {
  const key = [
    '-----BEGIN RSA PRIVATE KEY-----',
    ...Array.from({ length: 60 }, () => 'QUJD'),
    '-----END RSA PRIVATE KEY-----',
  ];
  const { lines, removed } = keep(
    [...key, 'pa\u00ad\u200bss\u001b[31mword=\u001b(B\u0000hunter2 x'].map((text) => line(text)),
  );
  expect(new Set(lines.map(({ text }) => text))).toEqual(new Set(['[removed]', 'password=[removed] x']));
  expect(removed).toBe(63);
});

it.each([
  ['of a private key', '-----BEGIN RSA PRIVATE KEY-----', 'QUJD'],
  ['of a value of YAML', 'password: |', '  correct horse'],
])('removes the end of a key %s that begins 199 lines earlier', (_what, begin, text) => {
  const before = Array.from({ length: 200 }, (_, at) => line(`work ${at}`));
  const { lines } = keep([...before, line(begin), ...Array.from({ length: 199 }, () => line(text))]);
  expect(new Set(lines.map(({ text }) => text.trim()))).toEqual(new Set(['[removed]']));
});

it('keeps equally many lines for each failed node, in the order of the log', () => {
  const others = ['db04', 'db05'].map((node) => ({ node, context: `2@node=${node}/1` }));
  const long = Array.from({ length: 80 }, (_, at) => line(`db03 ${at}`));
  const short = ['db04 a', 'db04 b'].map((text) => line(text, { node: 'db04' }));
  const db05 = Array.from({ length: 80 }, (_, at) => line(`db05 ${at}`, { node: 'db05' }));
  const all = [...short, ...long, line('of no node', { node: undefined }), ...db05];
  const { lines, leftOut } = keepLines(all, { ...cause, others }, createScrub());
  expect(lines.map(({ text }) => text)).toEqual([
    'db04 a',
    'db04 b',
    ...long.slice(-23).map(({ text }) => text),
    'of no node',
    ...db05.slice(-24).map(({ text }) => text),
  ]);
  expect(leftOut).toBe(113);
});

it('keeps no lines of the failed step from another node', () => {
  const of = (node: string) =>
    [1, 2].map((at) => line(`${node} ${at}`, { node: 'server', context: `2@node=${node}/1` }));
  const first = { node: 'server', context: '2@node=db03/1' };
  const { lines } = keepLines([...of('db03'), ...of('ape')], first, createScrub());
  expect(lines.map(({ text }) => text)).toEqual(['db03 1', 'db03 2']);
  // A line of the error handler; the name of its node ends like a step context.
  const handled = line('handled', { node: 'server', context: '2e@node=ape/1e' });
  const ape = { node: 'server', context: '2@node=ape/1' };
  expect(keepLines([...of('db03'), handled], ape, createScrub()).lines).toEqual([handled]);
});

it('removes the key of one node between lines of another node', () => {
  const others = [{ node: 'db04', context: '2/1' }];
  const all = ['-----BEGIN PRIVATE KEY-----', 'QUJD', '-----END PRIVATE KEY-----'].map((text) => line(text));
  all.splice(1, 0, line('harmless', { node: 'db04' }), line('-----END PRIVATE KEY-----', { node: 'db04' }));
  const { lines } = keepLines(all, { ...cause, others }, createScrub());
  expect(lines.map(({ text }) => text).join()).not.toContain('QUJD');
});

describe('of a long step', () => {
  const cleanup = Array.from({ length: 5000 }, (_, at) => line(`removed /var/tmp/part-${at}`));
  const trace = [
    'ERROR payment rejected',
    '  at pay.Settle.run(Settle.java:41)',
    'Caused by: java.io.IOException: gone',
  ];
  const begin = Array.from({ length: 300 }, (_, at) => line(`processed ${at}`));
  const step = [...begin, ...trace.map((text) => line(text)), ...cleanup];
  const tail = step.slice(-200);
  const textsOf = (kept: ReturnType<typeof keepLines>) =>
    kept.lines.map(({ text, gap }) => (gap === undefined ? text : `${gap.isRead ? '' : '?'}${gap.lines} ${text}`));

  it('keeps early errors and the last lines, and counts the lines in between', () => {
    const kept = keepLines(tail, cause, createScrub(), { step: { lines: step, isWhole: true }, isCut: true });
    const texts = textsOf(kept);
    expect(texts.slice(0, 4)).toEqual([`300 ${trace[0]}`, trace[1], trace[2], '4953 removed /var/tmp/part-4953']);
    expect([texts.length, texts.at(-1), kept.leftOut]).toEqual([50, 'removed /var/tmp/part-4999', 5253]);
  });

  it('marks where lines were not read', () => {
    const read = (count: number) => ({ step: { lines: step.slice(0, count), isWhole: false }, isCut: true });
    const cut = textsOf(keepLines(tail, cause, createScrub(), read(1000)));
    expect(cut.slice(2, 5)).toEqual([trace[2], '?850 removed /var/tmp/part-4953', 'removed /var/tmp/part-4954']);
    const overlapping = textsOf(keepLines(tail, cause, createScrub(), read(5200)));
    expect(overlapping.slice(2, 4)).toEqual([trace[2], '4953 removed /var/tmp/part-4953']);
    const unread = textsOf(keepLines(tail, cause, createScrub(), { isCut: true }));
    expect(unread[0]).toBe('?150 removed /var/tmp/part-4950');
    const unnamed = tail.map((each) => ({ ...each, context: undefined }));
    expect(textsOf(keepLines(unnamed, cause, createScrub(), { isCut: true }))[0]).toBe(
      '?150 removed /var/tmp/part-4950',
    );
  });

  it('keeps the error before the lines of a long error handler', () => {
    const failed = [...begin, line('ERROR payment rejected')];
    const handler = cleanup.map((each) => ({ ...each, context: '2/1e' }));
    const read = { step: { lines: failed, isWhole: true }, isCut: true };
    expect(textsOf(keepLines(handler.slice(-200), cause, createScrub(), read)).slice(0, 2)).toEqual([
      '300 ERROR payment rejected',
      '?151 removed /var/tmp/part-4951',
    ]);
    const end = [...failed, ...handler.slice(0, 190)].slice(-200);
    const texts = textsOf(keepLines(end, cause, createScrub(), read));
    expect(texts.slice(0, 2)).toEqual(['300 ERROR payment rejected', '141 removed /var/tmp/part-141']);
  });

  it('keeps standard error if no line reports an error', () => {
    const noisy = step.map((each, at) => (at === 310 ? { ...each, level: 'WARN' as const, text: 'sql: 3' } : each));
    const silent = noisy.filter(({ text }) => !trace.includes(text));
    const options = { step: { lines: silent, isWhole: true }, isCut: true };
    expect(textsOf(keepLines(silent.slice(-200), cause, createScrub(), options))[0]).toBe('307 sql: 3');
    const failing = [...cleanup.map(({ text }, at) => line(`ERROR ${at} ${text} ${'x'.repeat(900)}`)), ...begin];
    const many = keepLines(failing.slice(-200), cause, createScrub(), { step: { lines: failing, isWhole: true } });
    const texts = textsOf(many);
    expect(texts.filter((text) => text.includes('ERROR')).length).toBe(8);
    expect(texts.at(-1)).toBe('processed 299');
  });

  it('removes a key that begins above an error', () => {
    const key = [
      '-----BEGIN RSA PRIVATE KEY-----',
      ...Array<string>(60).fill('QUJD'),
      'error QUJD',
      '-----END RSA PRIVATE KEY-----',
    ];
    const lines = [...key.map((text) => line(text)), line('error: password=hunter2'), ...cleanup];
    const { lines: kept } = keepLines(lines.slice(-200), cause, createScrub(), { step: { lines, isWhole: true } });
    expect(kept.slice(0, 2).map(({ text }) => text)).toEqual(['[removed]', 'error: password=[removed]']);
  });
});
