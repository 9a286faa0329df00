import { describe, expect, it } from 'vitest';
import { createTally, hasSucceeded, toSummary, toTimes } from '../../scripts/tally.ts';

const skipped = ['alerts/rules (promtool is not installed)'];

describe('repository/tally', () => {
  it('ends with one line of counts', () => {
    expect(toSummary({ ...createTally(), passed: 12 })).toBe('12 passed, 0 failed, 0 skipped');
  });

  it('names tests that did not pass at the first attempt', () => {
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

  it('compares the time of a whole run with its budget', () => {
    expect(toTimes({ isAll: false, seconds: 479.6, load: 1.26 })).toBe(
      '480 s, within the budget of 480 s; load average 1.3',
    );
    expect(toTimes({ isAll: true, seconds: 2710, load: 6 })).toBe(
      '2710 s, 10 s over the budget of 2700 s; load average 6.0',
    );
  });

  it('counts a skipped test as a failure only in CI', () => {
    const tally = { ...createTally(), passed: 12, skipped };
    expect(hasSucceeded(tally, false)).toBe(true);
    expect(hasSucceeded(tally, true)).toBe(false);
  });

  it('never succeeds with a failed test', () => {
    expect(hasSucceeded({ ...createTally(), passed: 12, failed: ['api/paging'] }, false)).toBe(false);
  });
});
