import { plant } from '../planting.ts';
import type { ReplicaCard } from './cards.ts';
import { replicaPlants } from './plants.ts';
import type { ReplicaReport } from './play.ts';

/** Plays worlds with three daemons on one database, by their seeds. */
const options = new Map(
  process.argv.slice(2).map((argument): [string, string] => {
    const [name = '', ...value] = argument.replace(/^--/, '').split('=');
    return [name, value.join('=')];
  }),
);
const plantName = options.get('plant')?.replaceAll('_', ' ');
if (plantName !== undefined) plant(plantName, replicaPlants);
// The import is late, because planted faults affect only modules that are loaded later.
const { playReplicas } = await import('./play.ts');
const first = Number(options.get('seed') ?? options.get('from') ?? 1);
const seeds = Number(options.get('seeds') ?? 1);
const startedMs = performance.now();
const gaps: { readonly ms: number; readonly seed: number }[] = [];
let failed = 0;

for (let seed = first; seed < first + seeds; seed += 1) {
  const cards = options.get('cards');
  const report = await playReplicas(seed, {
    ...(options.has('log') ? { onEvent: say } : {}),
    ...(cards === undefined ? {} : { cards: cards === '' ? [] : cards.split(',').map(toCard) }),
  });
  gaps.push(...report.gapsMs.map((ms) => ({ ms, seed })));
  if (report.faults.length > 0) {
    failed += 1;
    tell(report);
    if (options.has('bail')) break;
  } else if (seeds === 1) print(describe(report));
  const played = seed - first + 1;
  if (played % 100 === 0) print(`seed ${seed}: ${sum(played)}`);
}
gaps.sort((one, other) => one.ms - other.ms);
const at = (share: number): string => ((gaps[Math.floor(share * (gaps.length - 1))]?.ms ?? 0) / 1000).toFixed(1);
print(sum(seeds));
print(
  `${gaps.length} gaps: median ${at(0.5)} s, p95 ${at(0.95)} s, longest ${at(1)} s (seed ${gaps.at(-1)?.seed ?? 'none'})`,
);
process.exitCode = failed > 0 ? 1 : 0;

function sum(played: number): string {
  return `${failed} of ${played} failed, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
}

/** Reads a printed card: name, daemon, time and duration. */
function toCard(text: string): ReplicaCard {
  const [, name = '', whom = 'owner', atMs = '0', forMs = '0'] = /^(.+)_(\w+?)@(\d+)\+(\d+)$/.exec(text) ?? [];
  // This cast is safe: this command printed the card.
  const card = name.replaceAll('_', ' ') as ReplicaCard['card'];
  return { card, whom: whom === 'owner' ? whom : Number(whom), atMs: Number(atMs), forMs: Number(forMs) };
}

function say(atMs: number, text: string): void {
  print(`${(atMs / 1000).toFixed(4)} ${text}`);
}

function tell(report: ReplicaReport): void {
  print(`FAILED ${describe(report)}`);
  for (const { atMs, oracle, says } of report.faults) print(`   ${(atMs / 1000).toFixed(1)} ${oracle} | ${says}`);
}

function describe({ seed, hash, cards, requests, executions, traces }: ReplicaReport): string {
  const played = cards.map(
    ({ card, atMs, forMs, whom }) => `${card.replaceAll(' ', '_')}_${whom}@${Math.round(atMs)}+${Math.round(forMs)}`,
  );
  return `seed ${seed} ${hash}: ${requests} requests, ${executions} executions, ${traces} traces [${played.join(',')}]`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
