import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../src/domain/failure-class.ts';
import { renderLines } from '../../src/http/pages/execution/log-lines.ts';

const atMs = Date.parse('2026-11-29T02:04:00Z');
const line = (text: string, more: Partial<LogLine> = {}): LogLine => ({
  level: 'NORMAL',
  text,
  node: 'db03',
  context: '1',
  atMs,
  ...more,
});

const linesOf = (...lines: readonly LogLine[]) =>
  renderLines({ lines, areOfStep: lines.some(({ context }) => context === '1') })
    ?.text.replaceAll(/<[^>]*>/g, '')
    .trim()
    .split('\n');

describe('http/log-lines', () => {
  it('marks where lines are missing', () => {
    const lines = [
      line('ERROR rejected', { gap: { lines: 1, isRead: true } }),
      line('removed 1', { gap: { lines: 4953, isRead: true } }),
      line('removed 2', { gap: { lines: 0, isRead: false } }),
      line('removed 3', { gap: { lines: 150, isRead: false }, atMs: undefined }),
    ];
    expect(linesOf(...lines)).toEqual([
      'Errors and last lines of the failed step',
      '… 1 line not shown …',
      '02:04:00 ERROR rejected',
      '… 4,953 lines not shown …',
      '02:04:00 removed 1',
      '… lines that were not read …',
      '02:04:00 removed 2',
      '… 150 lines not shown, and lines that were not read …',
      'removed 3',
    ]);
    expect(linesOf(line('a'), line('b'))).toEqual(['The last lines of the failed step', '02:04:00 a', '02:04:00 b']);
  });

  it('distinguishes the lines of a log from lines of the failed step', () => {
    const [title] = linesOf(line('cleaned up', { context: '3' })) ?? [];
    expect(title).toBe('The last lines of the log');
  });

  it('names the node of each line and gap if there are several nodes', () => {
    const other = line('b', { node: 'db04', gap: { lines: 2, isRead: true } });
    expect(linesOf(line('a'), other)).toEqual([
      'The last lines of the failed step',
      '02:04:00 db03: a',
      'db04: … 2 lines not shown …',
      '02:04:00 db04: b',
    ]);
  });
});
