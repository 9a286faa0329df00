import { readdirSync } from 'node:fs';

/** `npm run bench [name …]`: runs the benchmarks beside this file, one after the other, and prints what each measured. */
const wanted = process.argv.slice(2);
const benchmarks = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))
  .filter((name) => wanted.length === 0 || wanted.includes(name));

let failed = false;
for (const name of benchmarks) {
  const { run } = (await import(`./${name}.bench.ts`)) as { run: () => Promise<Measured[]> };
  console.log(`\n${name}`);
  for (const { what, figure, mustReach, reached } of await run()) {
    console.log(`  ${reached ? 'ok  ' : 'MISS'} ${what}: ${figure} (must reach: ${mustReach})`);
    failed ||= !reached;
  }
}
process.exit(failed ? 1 : 0);

type Measured = {
  readonly what: string;
  readonly figure: string;
  readonly mustReach: string;
  readonly reached: boolean;
};
