import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readOptions } from './options.ts';
import { plant } from './planting.ts';
import type { Report } from './play.ts';

/** Plays worlds by their seeds; with a progress file, continues after the last world. */
const options = readOptions(process.argv.slice(2));
const plantName = options.get('plant')?.replaceAll('_', ' ');
if (plantName !== undefined) plant(plantName);
// The imports are late, because planted faults affect only modules that are loaded later.
const { change, drawPlan } = await import('./draw-plan.ts');
const { readPlans } = await import('./plan.ts');
const { playWorld } = await import('./play.ts');
const { shrink, toCommand } = await import('./shrink.ts');

const progressFile = options.get('progress');
const done = progressFile !== undefined && existsSync(progressFile) ? Number(readFileSync(progressFile, 'utf8')) : 0;
const plansFile = options.get('plans');
const given = plansFile === undefined ? undefined : readPlans(plansFile);
const first = Math.max(done + 1, Number(options.get('seed') ?? options.get('from') ?? 1));
const seeds = given?.length ?? Number(options.get('seeds') ?? 1);
const isSingle = options.has('seed');
const startedMs = performance.now();
let failed = 0;
let played = 0;
let ended = 0;
let virtualMs = 0;
const releases = new Map<string, number>();
const leftOut = new Map<string, number>();
let slowest = { seed: 0, ms: 0 };

for (let seed = first; seed < first + seeds; seed += 1) {
  const begunMs = performance.now();
  const known = given?.[seed - first];
  const plan = known === undefined ? drawPlan(options, seed) : change(known, options);
  const report = await playWorld(plan, options.has('log') ? { onEvent: say } : {});
  played += 1;
  ended += report.ended;
  virtualMs += report.virtualMs;
  const { release = 'none' } = plan;
  releases.set(release, (releases.get(release) ?? 0) + 1);
  for (const why of report.leftOut) leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
  const tookMs = performance.now() - begunMs;
  if (tookMs > slowest.ms) slowest = { seed: plan.seed, ms: tookMs };
  if (report.faults.length > 0) {
    failed += 1;
    await tell(report);
  } else if (isSingle || options.has('verbose')) print(describe(report));
  if (progressFile !== undefined) writeFileSync(progressFile, String(seed));
  if (played % 100 === 0) print(`seed ${seed}: ${sum()}`);
  if (failed > 0 && options.has('bail')) break;
}
print(sum());
process.exitCode = failed > 0 ? 1 : 0;

function sum(): string {
  const tookMs = performance.now() - startedMs;
  const perMinute = ((played / tookMs) * 60_000).toFixed(0);
  const slow = `the slowest ${slowest.seed} with ${(slowest.ms / 1000).toFixed(1)} s`;
  const hours = `${(virtualMs / 3_600_000).toFixed(0)} virtual hours`;
  const ofReleases = [...releases].map(([release, worlds]) => `${worlds} of ${release}`).join(', ');
  return `${failed} of ${played} failed (${ofReleases}), ${hours} in ${(tookMs / 1000).toFixed(1)} s, ${perMinute} a minute, ${slow}, ${sumOfLeftOut()}`;
}

function sumOfLeftOut(): string {
  const toShare = (count: number): string => ((100 * count) / Math.max(1, ended)).toFixed(2);
  const whys = [...leftOut].sort(([, one], [, other]) => other - one).map(([why, count]) => `${why} ${toShare(count)}`);
  const all = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
  return `${toShare(all)} % need not be counted (${whys.join(', ')})`;
}

function say(atMs: number, text: string): void {
  print(`${(atMs / 1000).toFixed(4)} ${text}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function tell(report: Report): Promise<void> {
  print(`FAILED ${describe(report)}`);
  for (const { atMs, oracle, says } of report.faults) print(`   ${(atMs / 1000).toFixed(1)} ${oracle} | ${says}`);
  if (options.has('no-shrink')) return;
  const smallest = await shrink(report);
  print(`   cards: ${smallest.plan.cards.map(({ card }) => card).join(', ') || 'none'}`);
  print(`   ${toCommand(report.plan, smallest.plan, plantName)}`);
}

function describe({ plan, hash, requests, executions, traces, events }: Report): string {
  const played = plan.cards.map(({ card }) => card).join(', ');
  return `seed ${plan.seed} ${plan.size} ${hash}: ${requests} requests, ${executions} executions, ${traces} traces, ${events} events [${played}]`;
}
