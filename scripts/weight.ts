import { readFileSync, writeFileSync } from 'node:fs';
import { findExcess, flatten, toBudgets } from './weight/budgets.ts';
import { readHouse } from './weight/house.ts';

const file = new URL('./weight/budgets.json', import.meta.url);
const sizes = flatten(readHouse());

if (process.argv.includes('--set')) {
  writeFileSync(file, `${JSON.stringify(toBudgets(sizes), null, 2)}\n`);
} else {
  const budgets = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  const width = Math.max(...Object.keys(sizes).map((name) => name.length));
  for (const [name, size] of Object.entries(sizes)) {
    console.log(`${name.padEnd(width)} ${String(size).padStart(7)} of ${String(budgets[name] ?? '-').padStart(7)}`);
  }
  const excess = findExcess(sizes, budgets);
  for (const sentence of excess) console.error(sentence);
  process.exitCode = excess.length > 0 ? 1 : 0;
}
