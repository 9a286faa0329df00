import { readdirSync } from 'node:fs';

/**
 * `npm run bench [name …]`: runs the benchmarks beside this file, one after the other, and prints what each measured.
 * Benchmarks in `long/` take minutes to an hour and run by name only.
 */
const wanted = process.argv.slice(2);
const benchmarks = ['./', './long/'].flatMap((folder) =>
  readdirSync(new URL(folder, import.meta.url)).flatMap((file) => {
    const [, name] = /^(.*)\.bench\.ts$/.exec(file) ?? [];
    const isWanted = wanted.length === 0 ? folder === './' : wanted.includes(name ?? '');
    return name !== undefined && isWanted ? [{ name, path: `${folder}${file}` }] : [];
  }),
);

let failed = false;
for (const { name, path } of benchmarks) {
  const { run } = (await import(path)) as { run: () => Promise<Measured[]> };
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
