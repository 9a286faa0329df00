import { describe, expect, it } from 'vitest';
import { createTally, hasSucceeded, toSummary } from '../../scripts/tally.ts';

const skipped = ['alerts/rules (promtool is not installed)'];

describe('repository/tally', () => {
  it('ends with one line that counts', () => {
    expect(toSummary({ ...createTally(), passed: 12 })).toBe('12 passed, 0 failed, 0 skipped');
  });

  it('names what did not simply pass before that line', () => {
    const tally = { passed: 12, failed: ['api/paging'], skipped, retried: ['http/serve', 'state/copy'] };
    expect(toSummary(tally).split('\n')).toEqual([
      'Skipped:',
      `  ${skipped[0]}`,
      'Passed when run again:',
      '  http/serve',
      '  state/copy',
      'Failed:',
      '  api/paging',
      '12 passed, 1 failed, 1 skipped',
    ]);
  });

  it('takes a skip for a failure only in ci', () => {
    const tally = { ...createTally(), passed: 12, skipped };
    expect(hasSucceeded(tally, false)).toBe(true);
    expect(hasSucceeded(tally, true)).toBe(false);
  });

  it('never succeeds with a failed test', () => {
    expect(hasSucceeded({ ...createTally(), passed: 12, failed: ['api/paging'] }, false)).toBe(false);
  });
});
