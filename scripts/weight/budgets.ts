import type { House } from './house.ts';

/** The sizes of the repository by name, for example `executions lines`. */
export type Sizes = Readonly<Record<string, number>>;

export function flatten({ rooms, simulator, test, docs, drawing }: House): Sizes {
  const product = Object.values(rooms);
  const sum = (unit: 'lines' | 'files'): number => product.reduce((total, room) => total + room[unit], 0);
  const named = { ...rooms, product: { lines: sum('lines'), files: sum('files') }, simulator, test, docs, drawing };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, sizes]) =>
      Object.entries(sizes).map(([unit, size]) => [`${name} ${unit}`, size]),
    ),
  );
}

/** Returns one sentence for each size that exceeds its budget, and for each size without a budget. */
export function findExcess(sizes: Sizes, budgets: Sizes): readonly string[] {
  return Object.entries(sizes).flatMap(([name, size]) => {
    const budget = budgets[name];
    if (budget === undefined) return [`${name}: ${size}, and no budget: run \`npm run weight -- --set\`.`];
    if (size <= budget) return [];
    return [
      `${name}: ${size} of ${budget}. Make it smaller, or set the budget in this commit: \`npm run weight -- --set\`.`,
    ];
  });
}

/** Returns budgets with 1 % more lines and words than now. */
export function toBudgets(sizes: Sizes): Sizes {
  const hasRoom = (name: string): boolean => /(?:lines|words)$/.test(name);
  return Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, hasRoom(name) ? Math.ceil((size * 1.01) / 10) * 10 : size]),
  );
}
