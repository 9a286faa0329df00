import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readSources, type Source } from '../test/architecture/sources.ts';
import { type Attempts, type Lost, startAttempts } from './mutate/attempts.ts';
import { digest, findMutants, type Mutant, sampleOf } from './mutate/mutants.ts';
import type { Answer } from './mutate/orders.ts';
import { relatedTests } from './mutate/related.ts';
import { changeText, type Equivalent, reportOf, staleRows, type Tried } from './mutate/report.ts';
import { openResults, type Result } from './mutate/results.ts';
import { isRefusedByTypes } from './mutate/typed.ts';

const top = join(import.meta.dirname, '..');
const rooms = ['executions', 'tracing', 'api', 'schedule', 'metrics'] as const;

const { values } = parseArgs({
  options: {
    room: { type: 'string', multiple: true, default: [...rooms] },
    file: { type: 'string' },
    only: { type: 'string', multiple: true },
    sample: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '24' },
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

// Only the nearest tests run: they must notice a fault.
const maxTests = Number(values.tests);

// A run takes long, so other programs of the machine have priority.
setPriority(19);

const sources = readSources(['src', 'test']);
const results = openResults();
const equivalents = JSON.parse(
  readFileSync(join(top, 'scripts', 'mutate', 'equivalent.json'), 'utf8'),
) as readonly Equivalent[];

/** Tests that also fail without a fault are left out. */
const failing = new Set<string>();
const reports: string[] = [];
for (const room of values.room) {
  const mutants = mutantsOf(room);
  const chosen = choose(mutants);
  if (values.list) for (const mutant of chosen) console.log(`${mutant.id} ${placeText(mutant)}`);
  else if (chosen.length > 0) reports.push(reportOf(room, await tryAll(chosen), equivalents));
  const stale = staleRows(equivalents, mutants).filter(({ file }) => file.startsWith(`src/${room}/`));
  for (const { id, file, code } of stale) reports.push(`  stale in equivalent.json: ${id} ${file}: ${code}`);
}
for (const test of failing) reports.push(`left out, since it fails without a fault: ${test}`);
console.log(`\n${reports.join('\n\n')}`);

function mutantsOf(room: string): readonly Mutant[] {
  return sources
    .filter(({ path }) => path.startsWith(`src/${room}/`))
    .flatMap(({ path, text }) => findMutants(path, text));
}

function choose(mutants: readonly Mutant[]): readonly Mutant[] {
  const { only, file } = values;
  if (only !== undefined) return mutants.filter(({ id }) => only.includes(id));
  const wanted = file === undefined ? mutants : mutants.filter((mutant) => mutant.file === file);
  return sampleOf(wanted, Number(values.sample), Number(values.seed));
}

async function tryAll(mutants: readonly Mutant[]): Promise<readonly Tried[]> {
  const attempts = startAttempts();
  const tried: Tried[] = [];
  try {
    for (const mutant of mutants) tried.push({ mutant, result: await tryOne(mutant, attempts) });
  } finally {
    attempts.close();
  }
  return tried;
}

async function tryOne(mutant: Mutant, attempts: Attempts): Promise<Result> {
  const text = textOf(mutant.file);
  const tests = relatedTests(mutant.file, sources, maxTests);
  const withFile = digest(text);
  const withTests = digest([text, ...tests.map(textOf)].join('\n'));
  const again = values.again || values.only !== undefined;
  const known = again ? undefined : results.find(mutant.id, [withFile, withTests]);
  if (known !== undefined) return known;

  if (readFileSync(join(top, mutant.file), 'utf8') !== text) throw new Error(`${mutant.file} has changed: begin again`);
  const answer = await attempts.attempt({ mutant, tests });
  if (!('lost' in answer)) for (const test of answer.leftOut) failing.add(test);
  const result = toResult(mutant, answer, { text, withFile, withTests });
  results.add(result);
  const by = result.by === undefined ? '' : `  by ${result.by}`;
  console.log(`${result.outcome.padEnd(8)} ${mutant.id} ${placeText(mutant)}${by}`);
  return result;
}

function toResult(
  { id, ...mutant }: Mutant,
  answer: Answer | Lost,
  { text, withFile, withTests }: { text: string; withFile: string; withTests: string },
): Result {
  if ('lost' in answer) return { id, outcome: 'lost', by: answer.lost, against: withFile };
  const { noticedBy } = answer;
  if (noticedBy !== undefined) return { id, outcome: 'noticed', by: noticedBy, against: withFile };
  if (isRefusedByTypes(mutant, text)) return { id, outcome: 'refused', against: withFile };
  return { id, outcome: 'survived', against: withTests };
}

function textOf(path: string): string {
  return sources.find((source: Source) => source.path === path)?.text ?? '';
}

function placeText(mutant: Mutant): string {
  return `${mutant.file}:${mutant.line}  ${changeText(mutant)}`;
}
