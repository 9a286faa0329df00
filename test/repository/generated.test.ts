import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faults, readFaultTests } from '../../scripts/faults.ts';
import { generated } from '../../scripts/generated.ts';
import { findExcess, flatten, type Sizes } from '../../scripts/weight/budgets.ts';
import { readHouse } from '../../scripts/weight/house.ts';

describe('repository/generated', () => {
  it.each(Object.entries(generated()))('%s is fresh (npm run generate)', (path, text) => {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text);
  });
});

describe('repository/faults', () => {
  it('tests every fault, and no other', () => {
    const played = [...readFaultTests().keys()].sort((one, other) => one - other);
    expect(played).toEqual(faults.map((_fault, index) => index + 1));
  });
});

describe('the weight of the repository', () => {
  it('is within the budget of each room', () => {
    const file = new URL('../../scripts/weight/budgets.json', import.meta.url);
    const budgets = JSON.parse(readFileSync(file, 'utf8')) as Sizes;
    expect(findExcess(flatten(readHouse()), budgets)).toEqual([]);
  });

  it('reports each size above its budget, and each size without a budget', () => {
    expect(
      findExcess({ 'api lines': 11, 'api files': 2, 'new files': 1 }, { 'api lines': 10, 'api files': 2 }),
    ).toEqual([
      'api lines: 11 of 10. Make it smaller, or set the budget in this commit: `npm run weight -- --set`.',
      'new files: 1, and no budget: run `npm run weight -- --set`.',
    ]);
  });
});
