import { basename, dirname } from 'node:path';
import { readImports, type Source } from './sources.ts';

const drawers = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared', 'manager', 'base', 'types'];
const lists = ['src/collectors/index.ts'];
const maximumLines = 300;
const maximumFiles = 20;
/** Folders of like things, which may be long. */
const longLists = ['src/collectors', 'src/api/endpoints', 'src/commands'];

/** One sentence for each breach of the house style that a path and the text of a file show. */
export function findBrokenHabits(sources: readonly Source[]): readonly string[] {
  return [...fullFolders(sources), ...sources.flatMap(breachesOf)];
}

function breachesOf(source: Source): readonly string[] {
  return [
    ...namesOf(source),
    ...shapeOf(source),
    ...readImports(source.text).flatMap(({ target }) => [...importOf(target, source)]),
  ];
}

function fullFolders(sources: readonly Source[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) =>
    /^(?:src|simulator)\//.test(folder) && count > maximumFiles && !longLists.includes(folder)
      ? [`${folder} has ${count} files, more than ${maximumFiles}: give it floors.`]
      : [],
  );
}

function* namesOf({ path }: Source): Generator<string> {
  for (const part of path.split('/')) {
    const name = part.replace(/(\.(test|bench))?\.ts$/, '');
    if (drawers.includes(name)) yield `${path} is a drawer: name it after the one idea it holds, not ${name}.`;
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) yield `${path} is not in kebab-case: ${name}.`;
  }
  if (basename(path) === 'index.ts' && !lists.includes(path)) {
    yield `${path} is an index: only ${lists.join(', ')} may be one.`;
  }
}

function* shapeOf({ path, text }: Source): Generator<string> {
  const lines = text.split('\n').length - 1;
  // Tests hold long literal texts; every other file past this length holds two ideas.
  if (lines > maximumLines && !path.endsWith('.test.ts'))
    yield `${path} has ${lines} lines, more than ${maximumLines}.`;
  if (/^export default\b/m.test(text) || /^export\s*\{[^}]*\bas default\b/m.test(text)) {
    yield `${path} has a default export: name what it exports.`;
  }
  if (/^export\s+(type\s+)?\*/m.test(text)) yield `${path} is a barrel: import from the file that has the thing.`;
}

function* importOf(target: string, { path }: Source): Generator<string> {
  if (target.startsWith('.') && !/\.(ts|json)$/.test(target)) yield `${path} imports ${target} without .ts.`;
  if (target === 'nock' && !path.startsWith('test/support/')) {
    yield `${path} imports nock: only test/support may.`;
  }
  if (target === 'vitest' && !path.startsWith('test/')) yield `${path} imports vitest: only files in test may.`;
}
