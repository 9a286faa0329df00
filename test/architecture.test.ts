import { readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findCircles,
  findUnusedFiles,
  findUnusedPermissions,
  findWrongImports,
  homesOf,
} from './architecture/imports.ts';
import { rooms } from './architecture/rooms.ts';
import { programs, readImports, readSources, type Source } from './architecture/sources.ts';
import { exempt, findTimeSources } from './architecture/time-sources.ts';

/** The entry points of the programs, and the simulator without a socket, which only tests use. */
const entries = ['src/cli.ts', 'src/healthcheck.ts', 'simulator/direct.ts'];

describe('architecture', () => {
  it('lets every room import only what its row allows', () => {
    expect(findWrongImports(readSources(programs), rooms)).toEqual([]);
  });

  it('has no unused permission in the table', () => {
    expect(findUnusedPermissions(readSources(programs), rooms)).toEqual([]);
  });

  it('has no file that nothing imports', () => {
    expect(findUnusedFiles(readSources(programs), entries)).toEqual([]);
  });

  it('has no cycle between rooms, and none between floors', () => {
    expect(findCircles(readSources(programs), rooms)).toEqual([]);
  });

  it('allows no import between executions and tracing', () => {
    const across = readSources(['src/executions', 'src/tracing']).flatMap(({ path, text }) =>
      readImports(text)
        .map(({ target }) => posix.join(posix.dirname(path), target))
        .filter((target) => roomOf(target) !== roomOf(path) && crossing.includes(roomOf(target))),
    );
    expect(across).toEqual([]);
  });

  it('keeps names, folders and exports in the house style', () => {
    expect(findBrokenHabits(readSources([...programs, 'test', 'scripts', 'dashboards', 'alerts', 'bench']))).toEqual(
      [],
    );
  });

  it('has one place for timers, clocks and randomness', () => {
    const sources = readSources(programs);
    expect(findTimeSources(sources)).toEqual([]);
    // An exemption must be removed once no file needs it.
    const isUsed = (place: string) =>
      sources.some(
        ({ path, text }) => path.startsWith(place) && findTimeSources([{ path: 'src/a.ts', text }]).length > 0,
      );
    expect(exempt.filter(({ place }) => !isUsed(place))).toEqual([]);
  });

  it('has one place for each runtime package', () => {
    const packageJson: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
    const { dependencies } = packageJson as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies).filter((name) => homesOf(name, rooms).length === 0)).toEqual([]);
  });
});

const crossing = ['executions', 'tracing'];

function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

describe('architecture/imports', () => {
  const judge = (path: string, text: string) => findWrongImports([{ path, text }], rooms);

  it('names the right place for a stray package', () => {
    expect(judge('src/http/routes/metrics.ts', `import { request } from 'undici';`)).toEqual([
      'src/http/routes/metrics.ts imports undici: the room http/routes may import only status, http/server, http/pages, diagnosis/changes/deciding, express. The home of undici is api/wire/connections.',
    ]);
  });

  it('allows no import from the domain into another room', () => {
    expect(judge('src/domain/time.ts', `import { number } from '../api/lenient.ts';`)).toEqual([
      'src/domain/time.ts imports src/api/lenient.ts: the room domain may import nothing.',
    ]);
  });

  it('keeps the simulator separate from the client', () => {
    expect(
      judge('simulator/routes/system.ts', `import type { SystemInfo } from '../../src/api/endpoints/system.ts';`),
    ).toEqual([
      'simulator/routes/system.ts imports src/api/endpoints/system.ts: the room simulator may import only express, yaml, zod, node:http and the types of node:net.',
    ]);
  });

  it('lets only the command that starts the simulator import it', () => {
    const text = `import type { Simulator } from '../../simulator/simulator.ts';`;
    expect(judge('src/commands/demo.ts', text)).toHaveLength(1);
    expect(judge('src/commands/simulation.ts', text)).toEqual([]);
  });

  it('distinguishes type imports of a room from value imports', () => {
    const path = 'src/collectors/jobs.ts';
    expect(judge(path, `import type { Api } from '../api/client.ts';`)).toEqual([]);
    expect(judge(path, `import { createClient } from '../api/client.ts';`)).toEqual([
      'src/collectors/jobs.ts imports src/api/client.ts: the room collectors may import only domain, metrics/family, api/access-policy, api/endpoints, api/errors, api/paging, schedule/collector.',
    ]);
  });

  it('permits harmless modules of Node in pure rooms too', () => {
    expect(judge('src/domain/time.ts', `import { performance } from 'node:perf_hooks';`)).toEqual([
      'src/domain/time.ts imports node:perf_hooks: the room domain may import nothing.',
    ]);
    expect(judge('src/metrics/format.ts', `import { deflateRawSync } from 'node:zlib';`)).toEqual([]);
  });

  it('accepts rows of rooms that do not exist yet', () => {
    expect(judge('src/executions/wishes.ts', `import { openState } from '../state/sqlite.ts';`)).toEqual([
      'src/executions/wishes.ts imports src/state/sqlite.ts: the room executions may import only domain, api/errors, metrics/new-series.',
    ]);
    expect(judge('src/tracing/deliver/encode.ts', `import { x } from '@opentelemetry/otlp-transformer';`)).toEqual([]);
  });

  it('names a permission that nothing uses', () => {
    const table = [
      { room: 'a', knows: ['b', 'c'], types: ['d'], packages: ['x'] },
      { room: 'b' },
      { room: 'c' },
      { room: 'd' },
    ];
    const sources = [
      { path: 'src/a/one.ts', text: `import { b } from '../b/two.ts';\nimport type { C } from '../c/three.ts';` },
    ];
    expect(findUnusedPermissions(sources, table)).toEqual([
      'a may import c, but imports no value of it: allow only its types, or nothing.',
      'a may import the types of d, but imports none.',
      'a may use x, but does not.',
    ]);
  });

  it('names a file that nothing imports, such as a collector missing in the list', () => {
    const sources = [
      { path: 'src/cli.ts', text: `const { a } = await import('./a/one.ts');` },
      { path: 'src/a/one.ts', text: '' },
      { path: 'src/a/two.ts', text: '' },
    ];
    expect(findUnusedFiles(sources, ['src/cli.ts'])).toEqual([
      'src/a/two.ts is imported by nothing: put it into its list, or remove it.',
    ]);
  });

  it('names rooms that import values from each other', () => {
    const table = [{ room: 'a' }, { room: 'b' }, { room: 'c' }];
    const sources = [
      { path: 'src/a/one.ts', text: `import { b } from '../b/two.ts';` },
      { path: 'src/b/two.ts', text: `import { c } from '../c/three.ts';` },
      { path: 'src/c/three.ts', text: `import { a } from '../a/one.ts';` },
    ];
    expect(findCircles(sources, table)).toEqual(['a → b → c → a']);
    expect(findCircles(sources.slice(1), table)).toEqual([]);
  });

  it('rejects imports outside of src', () => {
    expect(judge('src/cli.ts', `import { buildRules } from '../alerts/generate.ts';`)).toEqual([
      'src/cli.ts imports alerts/generate.ts: the room cli may import only commands.',
    ]);
    expect(judge('src/cli.ts', 'const command = await import(name);')).toEqual([
      'src/cli.ts imports something computed: the room cli may import only commands.',
    ]);
    expect(judge('src/cache/lru.ts', '')).toEqual([
      'src/cache/lru.ts has no room: add a row to test/architecture/rooms.ts.',
    ]);
  });
});

describe('architecture/time-sources', () => {
  const judge = (path: string, text: string) => findTimeSources([{ path, text }]);

  it('names every direct use of time, timers or randomness', () => {
    expect(judge('src/api/budget.ts', '// setTimeout\nconst timer = setTimeout(run, 5);')).toEqual([
      'src/api/budget.ts:2 uses a timer of its own (setTimeout): take it from a Clock.',
    ]);
    expect(
      judge('src/daemon/trace-pipeline.ts', `import { setTimeout as pause } from 'node:timers/promises';`),
    ).toHaveLength(2);
    for (const text of ['Date.now()', 'new Date()', 'performance.now()', 'Math.random()', 'AbortSignal.timeout(5)']) {
      expect(judge('src/daemon/daemon.ts', text)).toHaveLength(1);
    }
    expect(judge('src/daemon/daemon.ts', 'new Date(5); clock.now()')).toEqual([]);
    expect(judge('src/domain/system-clock.ts', 'Date.now()')).toEqual([]);
  });
});

describe('architecture/sources', () => {
  it('reads every form of import and ignores comments', () => {
    const text = [
      `import type { A } from './a.ts';`,
      `import {`,
      `  b,`,
      `  type C,`,
      `} from './b.ts';`,
      `import * as d from 'd';`,
      `import './e.ts';`,
      `export { f } from './f.ts';`,
      `export type { G } from './g.ts';`,
      `// import { h } from './h.ts';`,
      `const i = () => import('./i.ts');`,
    ].join('\n');
    expect(readImports(text).map(({ target, typeOnly }) => `${target}${typeOnly ? ' (types)' : ''}`)).toEqual([
      './a.ts (types)',
      './b.ts',
      'd',
      './f.ts',
      './g.ts (types)',
      './e.ts',
      './i.ts',
    ]);
  });
});

describe('architecture/habits', () => {
  const judge = (path: string, text = '') => findBrokenHabits([{ path, text }]);

  it('rejects catch-all files, indexes and barrels', () => {
    expect(judge('src/api/utils.ts')).toEqual([
      'src/api/utils.ts is a drawer: name it after the one idea it holds, not utils.',
    ]);
    expect(judge('src/api/index.ts')).toEqual(['src/api/index.ts is an index: name it after what it lists.']);
    expect(judge('src/commands/log.ts', `export * from './a.ts';`)).toEqual([
      'src/commands/log.ts is a barrel: import from the file that has the thing.',
    ]);
  });

  it('rejects modifiers in expressions', () => {
    expect(judge('src/api/log.ts', 'const name = /(?i:token)/;')).toEqual([
      'src/api/log.ts has a modifier in an expression, which may not match: use a flag, or classes of letters.',
    ]);
  });

  it('rejects a folder with too many files', () => {
    const files = (folder: string) =>
      Array.from({ length: 21 }, (_, index) => ({ path: `${folder}/a${index}.ts`, text: '' }));
    expect(findBrokenHabits(files('src/tracing/plan'))).toEqual([
      'src/tracing/plan has 21 files, more than 20: give it floors.',
    ]);
    expect(findBrokenHabits([...files('src/collectors'), ...files('src/tracing/plan').slice(1)])).toEqual([]);
  });
});

const drawers = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared', 'manager', 'base', 'types'];
const maximumFiles = 20;
/** Folders of similar files, which may be long. */
const longLists = ['src/collectors', 'src/api/endpoints', 'src/commands'];

/** One sentence for each breach of the house style. */
function findBrokenHabits(sources: readonly Source[]): readonly string[] {
  return [...findFullFolders(sources), ...sources.flatMap((source) => [...breachesOf(source)])];
}

function findFullFolders(sources: readonly Source[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) =>
    /^(?:src|simulator)\//.test(folder) && count > maximumFiles && !longLists.includes(folder)
      ? [`${folder} has ${count} files, more than ${maximumFiles}: give it floors.`]
      : [],
  );
}

function* breachesOf({ path, text }: Source): Generator<string> {
  for (const part of path.split('/')) {
    const name = part.replace(/(\.(test|bench))?\.ts$/, '');
    if (drawers.includes(name)) yield `${path} is a drawer: name it after the one idea it holds, not ${name}.`;
  }
  if (basename(path) === 'index.ts') yield `${path} is an index: name it after what it lists.`;
  if (/^export\s+(type\s+)?\*/m.test(text)) yield `${path} is a barrel: import from the file that has the thing.`;
  // If a regular expression contains a modifier such as `(?i:`, V8 (Node 24.21) may fail to match upper case.
  if (path.startsWith('src/') && /\(\?[ims-]+:/.test(text.replaceAll(/\/\*\*[^]*?\*\//g, '')))
    yield `${path} has a modifier in an expression, which may not match: use a flag, or classes of letters.`;
}
