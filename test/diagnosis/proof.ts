import { programs, writeProgram } from '../../simulator/answers/executions/program-lines.ts';
import { createRandom, toSeed } from '../../simulator/random.ts';
import { chooseLines } from '../../src/diagnosis/lines/choose.ts';
import { toFingerprint } from '../../src/diagnosis/lines/diagnoses.ts';
import { createScrub } from '../../src/diagnosis/lines/scrub.ts';
import { keepLines } from '../../src/diagnosis/lines/shown-lines.ts';
import { renderLines } from '../../src/http/pages/execution/log-lines.ts';
import { encodeLogs } from '../../src/tracing/deliver/encode.ts';
import { toLineRecords } from '../../src/tracing/plan/log-records.ts';
import { planRecorded } from '../tracing/recorded.ts';
import { secretForms } from './corpus.ts';

type Proof = {
  /** The share of equal failures that have the same fingerprint; and the exceptions. */
  readonly stable: number;
  readonly unstable: readonly string[];
  /** The share of different failures that have the same fingerprint; and these failures. */
  readonly colliding: number;
  readonly collisions: readonly string[];
  readonly logs: number;
  /** Secrets that were not removed, each with its form. */
  readonly leaks: readonly string[];
  /** The share of lines without a secret that stay unchanged; and some exceptions. */
  readonly unharmed: number;
  readonly harmed: readonly string[];
};

const scrub = createScrub();

/** Measures fingerprints and the removal of secrets on logs of many programs; the same seed gives the same figures. */
export function prove({ seed, logs, pairs }: { seed: number; logs: number; pairs: number }): Proof {
  return { ...proveFingerprints(seed, pairs), ...proveScrub(seed, logs) };
}

function toLog(template: string, seed: number): readonly string[] {
  const random = createRandom(seed);
  const secret = secretForms[0]?.make(seed) ?? '';
  const before = Array.from({ length: 3 }, (_, line) => `step ${line} of ${Math.floor(random() * 90)} done`);
  const lines = [
    ...before.map((text) => ({ level: 'NORMAL', text }) as const),
    ...writeProgram(template, random, secret).map((text) => ({ level: 'WARN', text }) as const),
    { level: 'ERROR', text: 'Failed: NonZeroResultCode: Result code was 1' } as const,
  ].map((line) => ({ ...line, node: 'db03', context: '1', atMs: undefined }));
  return chooseLines(lines, { node: 'db03', context: '1' }).map(({ text }) => text);
}

const print = (template: string, seed: number) => toFingerprint(scrub(toLog(template, seed)).texts, 'key');

function proveFingerprints(seed: number, pairs: number) {
  let same = 0;
  const unstable = new Set<string>();
  const firsts = programs.map((template) => print(template, toSeed(seed, template)));
  for (const [at, template] of programs.entries())
    for (let pair = 0; pair < pairs; pair += 1) {
      if (print(template, toSeed(seed, template, pair)) === firsts[at]) same += 1;
      else unstable.add(template);
    }
  const collisions: string[] = [];
  for (const [at, one] of firsts.entries())
    for (const [other, another] of firsts.entries())
      if (other < at && one === another) collisions.push(`${programs[other]} | ${programs[at]}`);
  return {
    stable: same / (programs.length * pairs),
    unstable: [...unstable],
    colliding: collisions.length / ((programs.length * (programs.length - 1)) / 2),
    collisions,
  };
}

/** The lines of a log that pages show. */
function toSent(texts: readonly string[]): string {
  const all = texts.map((text) => ({ level: 'WARN', text, node: 'db03', context: '1', atMs: 0 }) as const);
  const { lines } = keepLines(all, { node: 'db03', context: '1' }, scrub);
  const records = toLineRecords({ ...planned, lines }, 0);
  return (
    Buffer.from(encodeLogs(records, 'protobuf')).toString('utf8') +
    (renderLines({ lines, areOfStep: true })?.text ?? '')
  );
}

const planned = planRecorded('failed-node');

function proveScrub(seed: number, logs: number) {
  const leaks: string[] = [];
  const harmed: string[] = [];
  let plainLines = 0;
  let unharmed = 0;
  const plainPrograms = programs.filter((template) => !template.includes('{secret}'));
  for (let log = 0; log < logs; log += 1) {
    const random = createRandom(toSeed(seed, 'log', log));
    const form = secretForms[log % secretForms.length];
    const template = plainPrograms[Math.floor(random() * plainPrograms.length)] ?? '';
    if (form === undefined) continue;
    const secret = form.make(toSeed(seed, log));
    const plain = writeProgram(template, random, '');
    const lines = [...plain, ...form.write(secret).split('\n'), ...plain];
    const { texts } = scrub(lines);
    const text = [...texts, toSent(lines)].join('\n');
    if (secret.split('\n').some((part) => text.includes(part))) leaks.push(`${form.form}: ${form.write(secret)}`);
    const kept = [...texts.slice(0, plain.length), ...texts.slice(-plain.length)];
    for (const [at, line] of kept.entries()) {
      const before = plain[at % plain.length] ?? '';
      plainLines += 1;
      if (line === before) unharmed += 1;
      else harmed.push(before);
    }
  }
  return { logs, leaks, unharmed: unharmed / plainLines, harmed: [...new Set(harmed)] };
}
