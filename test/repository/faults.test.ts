import { describe, expect, it } from 'vitest';
import { faults, readFaultTests } from '../../scripts/faults.ts';

describe('repository/faults', () => {
  it('tests every fault, and no other', () => {
    const played = [...readFaultTests().keys()].sort((one, other) => one - other);
    expect(played).toEqual(faults.map((_fault, index) => index + 1));
  });
});
