import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import type { State } from '../../src/state/state.ts';
import { isAll } from '../support/all.ts';
import { makeMemoryFolder } from '../support/memory-folder.ts';

const nowMs = Date.parse('2026-01-15T12:00:00Z');
const clock = { now: () => nowMs };
const projects = ['pay', 'shop', 'warehouse'];
const seeds = isAll ? 300 : 90;
let template: string;
/** The content after each commit; the newest one is last. */
const kept: string[] = [];

beforeAll(async () => {
  template = makeMemoryFolder('automation-exporter-template-');
  const dir = makeMemoryFolder('automation-exporter-killed-');
  let state = openSqliteState({ dir });
  for (let round = 1; round <= 40; round++) {
    await commit(state, round);
    kept.push(await contentOf(state));
    if (round === 25) await state.backUp();
    if (round !== 30) continue;
    await state.close();
    state = openSqliteState({ dir });
  }
  // As after a kill, the last commits are only in the write-ahead log.
  for (const name of readdirSync(dir)) copyFileSync(join(dir, name), join(template, name));
  await state.close();
  rmSync(dir, { recursive: true });
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

async function commit(state: State, round: number): Promise<void> {
  const entries = Array.from({ length: 30 }, (_, index) => {
    const id = round * 30 + index;
    return { project: projects[id % 3] ?? '', id, startedAtMs: nowMs + id, endedAtMs: nowMs + 9 * id };
  });
  const documents = Array.from({ length: 8 }, (_, job) => ({
    kind: 'note',
    key: JSON.stringify(['runs', projects[job % 3], `settle ${job}`]),
    body: JSON.stringify({ labels: [`settle ${job}`], count: round * 7919, text: 'x'.repeat(120) }),
  }));
  const trace = { server: 'prod', executionId: String(round), startedAtMs: nowMs, spooledAtMs: nowMs };
  const bytes = new Uint8Array(1500).map((_, index) => (index * round) % 251);
  const spooled = [{ ...trace, key: `prod ${round}`, encoding: 'protobuf' as const, spans: 3, bytes }];
  await state.ledger.commit('prod', { entries, documents, spooled });
}

async function contentOf({ ledger, spool }: State): Promise<string> {
  const ids = Array.from({ length: 1500 }, (_, id) => id);
  const entries = await ledger.find('prod', ids);
  const ends = await Promise.all(
    projects.map((project) =>
      ledger.countEnds('prod', { projects: [project], beginMs: nowMs + 5000, endMs: nowMs * 2 }),
    ),
  );
  const traces = await spool.next({ maxBytes: 1e9, maxTraces: 1000 });
  const documents = (await ledger.load('prod'))
    .filter(({ kind }) => kind !== 'restored')
    .map((document) => JSON.stringify(document))
    .sort();
  return JSON.stringify({
    entries,
    ends,
    documents,
    traces: traces.map(({ bytes, ...trace }) => ({ ...trace, bytes: Buffer.from(bytes).toString('base64') })),
  });
}

/** Random numbers from a seed; the same seed repeats a failing round. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Returns false if the damage changed nothing: a random byte may equal the old one. */
type Damage = readonly [name: string, apply: (dir: string, random: (below: number) => number) => boolean];

function toBytesDamage(change: (bytes: Buffer, random: (below: number) => number) => Buffer): Damage[1] {
  return (dir, random) => {
    const file = join(dir, random(3) === 0 ? 'state.sqlite-wal' : 'state.sqlite');
    const before = readFileSync(file);
    const after = change(Buffer.from(before), random);
    writeFileSync(file, after);
    return !after.equals(before);
  };
}

function toRowDamage(sql: string): Damage[1] {
  return (dir, random) => {
    const database = new DatabaseSync(join(dir, 'state.sqlite'));
    const { changes } = database.prepare(sql.replaceAll('RANDOM', String(random(8)))).run();
    database.close();
    return Number(changes) > 0;
  };
}

const damages: readonly Damage[] = [
  [
    'a bit',
    toBytesDamage((bytes, random) => {
      const at = random(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
      return bytes;
    }),
  ],
  [
    'a byte',
    toBytesDamage((bytes, random) => {
      bytes[random(bytes.length)] = random(256);
      return bytes;
    }),
  ],
  [
    'a run',
    toBytesDamage((bytes, random) => {
      const at = random(bytes.length);
      return bytes.fill(random(256), at, at + 1 + random(300));
    }),
  ],
  ['a cut', toBytesDamage((bytes, random) => bytes.subarray(0, random(bytes.length)))],
  [
    'a number in a document',
    toRowDamage(
      `UPDATE ledger_document SET body = replace(body, '"count":31', '"count":32') WHERE body LIKE '%"count":31%' AND key LIKE '%settle RANDOM%'`,
    ),
  ],
  ['a key of a document', toRowDamage(`UPDATE ledger_document SET key = replace(key, 'settle RANDOM', 'settle 9')`)],
];

async function play(seed: number): Promise<string> {
  const random = createRandom(seed);
  const dir = makeMemoryFolder('automation-exporter-round-');
  try {
    for (const name of readdirSync(template)) copyFileSync(join(template, name), join(dir, name));
    const [name, apply] = damages[seed % damages.length] ?? ['none', () => false];
    const isDamaged = apply(dir, random);
    return `${name}: ${isDamaged ? await judge(dir) : 'nothing was changed'}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the result for a damaged state: complete, or the content of an earlier commit and a log message. */
async function judge(dir: string): Promise<string> {
  const damagedTraces: string[] = [];
  const state = openSqliteState({ dir, onDamage: (what) => damagedTraces.push(what) }, clock);
  const content = await contentOf(state);
  await commit(state, 41);
  const after = await contentOf(state);
  await state.close();
  const again = openSqliteState({ dir }, clock);
  const isKept = (await contentOf(again)) === after && again.origin.kind === 'usual';
  await again.close();
  if (!isKept) return 'what is committed afterwards is not kept';
  if (content === kept.at(-1)) return 'healed';
  if (state.origin.kind === 'usual') return damagedTraces.length > 0 ? judgeTraces(content) : 'not noticed';
  // With a good copy, the state must not start empty.
  if (state.origin.kind === 'anew') return 'begun from nothing';
  return kept.includes(content) ? 'said' : 'said, but it never was like this';
}

/** Everything except some traces must equal the last content. */
function judgeTraces(content: string): string {
  // These casts are safe: `contentOf` wrote the text.
  const { traces, ...found } = JSON.parse(content) as { readonly traces: readonly unknown[] };
  const { traces: allTraces, ...last } = JSON.parse(kept.at(-1) ?? '') as { readonly traces: readonly unknown[] };
  const all = new Set(allTraces.map((trace) => JSON.stringify(trace)));
  const isSame = JSON.stringify(found) === JSON.stringify(last);
  return isSame && traces.every((trace) => all.has(JSON.stringify(trace)))
    ? 'a trace was quarantined'
    : 'more than a trace is gone';
}

describe('state/random-damage', () => {
  it('restores or repairs the state after any damage', async () => {
    const outcomes = new Map<string, number[]>();
    for (let seed = 0; seed < seeds; seed++) {
      const outcome = await play(seed).catch((error: unknown) => `failed: ${String(error)}`);
      outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), seed]);
    }
    const wrong = [...outcomes].filter(
      ([outcome]) => !/: (healed|said|a trace was quarantined|nothing was changed)$/.test(outcome),
    );
    expect(wrong).toEqual([]);
    const unchanged = [...outcomes].filter(([outcome]) => outcome.endsWith('nothing was changed'));
    expect(unchanged.flatMap(([, seeds]) => seeds).length).toBeLessThan(15);
    for (const name of ['a number in a document', 'a key of a document'])
      expect(outcomes.get(`${name}: nothing was changed`)).toBeUndefined();
  }, 120_000);
});
