import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { explainFault } from '../../src/commands/faults.ts';
import { isAll } from '../support/all.ts';
import { provideBuilt } from '../support/built.ts';
import { type Child, startChild } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { runCommand } from '../support/process.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
  readonly version: string;
};
const limitMs = 60_000;
const directory = makeSharedFolder();
let simulator: Simulator;

beforeAll(async () => {
  // The files are in a folder `node_modules`, as npm installs them.
  cpSync(provideBuilt(), home(), { recursive: true });
  simulator = await startSimulator({ scenario: 'quiet-day' });
  write(
    'config.yaml',
    `servers: [{ name: prod, url: '${simulator.url}', token_file: token, budget: { requests_per_second: 1000 } }]\n`,
  );
  write('token', `${simulator.token}\n`);
}, limitMs);

afterAll(async () => {
  await simulator.stop();
});

const home = (): string => join(directory, 'node_modules', 'automation-exporter');

function write(path: string, text: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text, { mode: 0o600 });
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  return startChild(process.execPath, [join(home(), 'cli.js'), ...args], { cwd: directory, env });
}

/** Packs the npm archive and lists its files. */
async function pack() {
  const packed = await runCommand('npm', ['pack', '--json', '--pack-destination', directory], { cwd: home() });
  // The cast contains only the fields that are used.
  const [archive] = JSON.parse(packed) as readonly { filename: string; files: readonly { path: string }[] }[];
  if (archive === undefined) throw new Error('npm packed nothing');
  return archive;
}

function serve(): Child {
  // Self-tracing loads further modules.
  const variables = {
    OTEL_TRACES_EXPORTER: 'otlp',
    HOME: join(directory, 'home'),
    OTEL_EXPORTER_OTLP_ENDPOINT: simulator.url,
  };
  return run(
    ['serve', '--config.file=config.yaml', '--state.dir=state', '--web.listen-address=127.0.0.1:0'],
    variables,
  );
}

async function whileServing(look: (url: string, daemon: Child) => Promise<void>): Promise<string> {
  const daemon = serve();
  try {
    const [, url = ''] = await daemon.waitFor(/msg=serving url=(\S+)/, limitMs);
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), { limitMs });
    await look(url, daemon);
    daemon.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    return daemon.output();
  } finally {
    await daemon.stop();
  }
}

const inside = [
  'CHANGELOG.md',
  'LICENSE',
  'NOTICE',
  'README.md',
  'THIRD-PARTY-LICENSES',
  'alerts/',
  'chunks/',
  'cli.js',
  'cli.js.map',
  'completion/',
  'dashboards/',
  'healthcheck.js',
  'healthcheck.js.map',
  'link-node.cjs',
  'man/',
  'package.json',
  'sbom.cdx.json',
  'sqlite-health.js',
];

describe('end-to-end, bundle', () => {
  it('serves and traces like the sources', async () => {
    await whileServing(async (url, { pid }) => {
      // The exporter sets these variables by itself.
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('MALLOC_TRIM_THRESHOLD_=131072');
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).toContain('automation_up{server="prod"} 1\n');
      expect(text).toContain(`automation_exporter_build_info{version="${version}"`);
      const paths = ['/', '/traces', '/config', '/dashboards/overview.json', '/alerts/rules.yaml'];
      for (const path of [...paths, '/runbooks/AutomationServiceDown'])
        expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
      await eventually(
        async () => {
          const sent = /^automation_exporter_spans_exported_total (\d+)/m;
          expect(Number(sent.exec(await (await fetch(`${url}/metrics`)).text())?.[1])).toBeGreaterThan(0);
        },
        { limitMs },
      );
    });
  }, 120_000);

  it('checks its state for damage in a separate thread', async () => {
    await whileServing(async () => undefined);
    const database = new DatabaseSync(join(directory, 'state/state.sqlite'));
    database.exec('CREATE TRIGGER planted AFTER INSERT ON ledger_entry BEGIN DELETE FROM ledger_document; END');
    database.close();
    expect(await whileServing(async () => undefined)).toMatch(/level=error msg="state damaged: last backup restored/);
  }, 120_000);

  it('runs no package from its parent folders', async () => {
    const marker = join(directory, 'was-executed');
    const planted = `require('node:fs').writeFileSync(${JSON.stringify(marker)}, __filename);\n`;
    for (const name of ['supports-color', 'pino-pretty', 'bufferutil', 'undici', 'express']) {
      write(`node_modules/${name}/package.json`, '{"main":"index.js"}');
      write(`node_modules/${name}/index.js`, planted);
    }
    const output = await whileServing(async () => undefined);
    expect(existsSync(marker)).toBe(false);
    expect(output).toContain('node_modules/supports-color/index.js is not loaded: it does not belong to the exporter');
  }, 120_000);

  it('bundles only ASCII characters, which save memory', () => {
    const files = globSync('**/*.js', { cwd: home() });
    expect(files.length).toBeGreaterThan(20);
    const isWide = (file: string) => /[^\0-\x7f]/.test(readFileSync(join(home(), file), 'utf8'));
    expect(files.filter(isWide)).toEqual([expect.stringMatching(/^chunks\/simulation-/)]);
  });

  it('runs every command that needs no server', async () => {
    const outputs = [
      ['--version'],
      ['--help'],
      ['metrics'],
      ['config', '--schema'],
      ['check', '--config.file=config.yaml'],
    ];
    for (const args of outputs) {
      const child = run(args);
      expect([args, (await child.ended).code, child.output()]).toEqual([args, 0, expect.stringMatching(/\S/)]);
    }
  }, 120_000);

  it('packs no development files', async () => {
    const { files } = await pack();
    const folders = new Set(files.map(({ path }) => (path.includes('/') ? path.replace(/\/.*/, '/') : path)));
    expect([...folders].sort()).toEqual(inside);
  }, 120_000);

  it.each(isAll ? ['npx'] : [])(
    'runs from the release archive with %s',
    async () => {
      // The package needs neither Node in the PATH nor a cache.
      const env = {
        npm_config_cache: join(directory, 'npm-cache'),
        npm_config_offline: 'true',
        npm_config_omit: 'optional',
        PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      };
      const file = join(directory, (await pack()).filename);
      const npx = startChild('npm', ['exec', '--yes', `--package=${file}`, '--', 'automation-exporter', '--version'], {
        cwd: directory,
        env: { HOME: join(directory, 'home'), ...env },
      });
      expect((await npx.ended).code).toBe(0);
      expect(npx.output()).toMatch(/^automation-exporter \d+\.\d+\.\d+$/m);
    },
    120_000,
  );

  it('reports an error with its place in the sources', () => {
    const read = (path: string): string[] => readFileSync(path, 'utf8').split('\n');
    const findLine = (lines: readonly string[]): number => lines.findIndex((text) => text.includes('needs Node'));
    const code = read(join(home(), 'cli.js'));
    const line = findLine(code);
    const lineOfSource = findLine(read('src/commands/node-version.ts')) + 1;
    const column = code[line]?.indexOf('needs Node') ?? 0;
    const folder = pathToFileURL(`${home()}/`);
    const fault = new Error('odd');
    fault.stack = `Error: odd\n    at x (node:fs:1:2)\n    at y (${folder.href}cli.js:${line + 1}:${column + 1})`;
    expect(explainFault(fault, folder)).toBe(
      `an unexpected error at src/commands/node-version.ts:${lineOfSource}: odd`,
    );
    fault.stack = `Error: odd\n    at y (${folder.href}other.js:3:4)`;
    expect(explainFault(fault, folder)).toBe('an unexpected error at other.js:3: odd');
  });
});
