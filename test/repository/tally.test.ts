import { describe, expect, it } from 'vitest';
import { hasSucceeded, toLastLine } from '../../scripts/tally.ts';

describe('repository/tally', () => {
  it('ends with one line that counts', () => {
    expect(toLastLine({ passed: 12, failed: 1, skipped: ['a', 'b'] })).toBe('12 passed, 1 failed, 2 skipped');
  });

  it('takes a skip for a failure only in ci', () => {
    const tally = { passed: 12, failed: 0, skipped: ['alerts/rules (promtool is not installed)'] };
    expect(hasSucceeded(tally, false)).toBe(true);
    expect(hasSucceeded(tally, true)).toBe(false);
  });

  it('never succeeds with a failed test', () => {
    expect(hasSucceeded({ passed: 12, failed: 1, skipped: [] }, false)).toBe(false);
  });
});
