import { describe, expect, it } from 'vitest';
import { toJobPath } from '../../src/domain/job.ts';

describe('domain/job', () => {
  it.each([
    [{ project: 'pay', group: 'nightly', name: 'settle' }, 'pay/nightly/settle'],
    [{ project: 'pay', group: 'nightly/eu', name: 'settle' }, 'pay/nightly/eu/settle'],
    [{ project: 'pay', group: '', name: 'settle' }, 'pay/settle'],
  ])('writes %j as %s', (names, path) => {
    expect(toJobPath(names)).toBe(path);
  });
});
