import { expect, it } from 'vitest';
import { keepLines } from '../../src/diagnosis/lines/keep.ts';
import { createScrub } from '../../src/diagnosis/lines/scrub.ts';
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

it('keeps the last 50 lines of the failed step on its node, and counts its other lines', () => {
  const lines = Array.from({ length: 80 }, (_, at) => line(`line ${at}`));
  const { lines: kept, leftOut } = keep([
    ...lines,
    line('other node', { node: 'db04' }),
    line('other', { context: '3' }),
  ]);
  expect(kept.map(({ text }) => text)).toEqual(lines.slice(30).map(({ text }) => text));
  expect(leftOut).toBe(30);
});

it('keeps at most 16 KiB', () => {
  const { lines, leftOut } = keep(Array.from({ length: 10 }, () => line('é'.repeat(2000))));
  expect(lines).toHaveLength(4);
  expect(leftOut).toBe(6);
});

it('cuts a long line after the search for secrets, so that others have room', () => {
  const { lines } = keep([line('before'), line(`${'é'.repeat(1997)}\u{1f511} password=hunter2 ${'x'.repeat(20_000)}`)]);
  expect(lines.map(({ text }) => text)).toEqual(['before', `${'é'.repeat(1997)}\u{1f511}…`]);
  expect(keep([line(`${'é'.repeat(1998)}\u{1f511}x`)]).lines[0]?.text).toBe(`${'é'.repeat(1998)}\u{fffd}…`);
});

it('keeps the final text of a progress bar, as a terminal shows it', () => {
  expect(keep([line(`${'10 %\r'.repeat(9000)}password=hunter2\r\r`)]).lines[0]?.text).toBe('password=[removed]');
});

it('keeps the end of the whole log if it names no step', () => {
  const { lines } = keep([line('a', { context: undefined }), line(' '), line('b', { context: undefined })]);
  expect(lines.map(({ text }) => text)).toEqual(['a', 'b']);
});

it('removes secrets that colours hide, and keys that begin above the first kept line', () => {
  const key = [
    '-----BEGIN RSA PRIVATE KEY-----',
    ...Array.from({ length: 60 }, () => 'QUJD'),
    '-----END RSA PRIVATE KEY-----',
  ];
  const { lines, removed } = keep([...key, 'pass\u001b[31mword=\u001b(B\u0000hunter2 x'].map((text) => line(text)));
  expect(new Set(lines.map(({ text }) => text))).toEqual(new Set(['[removed]', 'password=[removed] x']));
  expect(removed).toBe(63);
});

it('keeps the same number of lines for each node on which the step failed, in the order of the log', () => {
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

it('does not let the key of one node end in the lines of another', () => {
  const others = [{ node: 'db04', context: '2/1' }];
  const all = ['-----BEGIN PRIVATE KEY-----', 'QUJD', '-----END PRIVATE KEY-----'].map((text) => line(text));
  all.splice(1, 0, line('harmless', { node: 'db04' }), line('-----END PRIVATE KEY-----', { node: 'db04' }));
  const { lines } = keepLines(all, { ...cause, others }, createScrub());
  expect(lines.map(({ text }) => text).join()).not.toContain('QUJD');
});
