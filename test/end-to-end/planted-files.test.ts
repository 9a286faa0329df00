import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { startChild, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';

const limitMs = 60_000;
let directory: string;
let simulator: Simulator;

beforeEach(async () => {
  directory = makeFolder();
  simulator = await startSimulator({ scenario: 'quiet-day' });
  writeFileSync(
    join(directory, 'config.yaml'),
    `servers: [{ name: prod, url: '${simulator.url}', token_file: token }]\n`,
  );
  writeFileSync(join(directory, 'token'), `${simulator.token}\n`, { mode: 0o600 });
});
afterEach(() => simulator.stop());

const marker = (): string => join(directory, 'was-executed');
const executed = (): string[] => (existsSync(marker()) ? readFileSync(marker(), 'utf8').trimEnd().split('\n') : []);
const planted = (name: string): string =>
  `import('node:fs').then(({ appendFileSync }) => appendFileSync(${JSON.stringify(marker())}, ${JSON.stringify(`${name}\n`)}));\n`;

function plant(path: string, text = planted(path)): void {
  const file = join(directory, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

/** Plants a fake version of every package that the exporter imports. */
function plantPackages(folder: string): void {
  const { dependencies } = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
  ) as { readonly dependencies: Readonly<Record<string, string>> };
  for (const name of [...Object.keys(dependencies), 'supports-color', 'pino-pretty', 'bufferutil', 'zod-config']) {
    plant(`${folder}/${name}/package.json`, `{"name":"${name}","version":"99.0.0","main":"index.js"}`);
    plant(`${folder}/${name}/index.js`);
  }
}

function startDaemon() {
  const flags = ['--config.file=config.yaml', '--state.dir=state', '--web.listen-address=127.0.0.1:0'];
  return startCli(['serve', ...flags], {
    cwd: directory,
    env: { HOME: join(directory, 'home'), OTEL_EXPORTER_OTLP_ENDPOINT: simulator.url, OTEL_TRACES_EXPORTER: 'otlp' },
  });
}

/** Runs the daemon until all its parts have been used, and returns its log. */
async function playOnce(): Promise<string> {
  const daemon = startDaemon();
  try {
    const [, url] = await daemon.waitFor(/msg=serving url=(\S+)/, limitMs);
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), { limitMs });
    for (const path of ['/', '/traces', '/config', '/metrics', '/api/status', '/alerts/rules.yaml', '/runbooks/'])
      expect((await fetch(`${url}${path}`)).status).toBe(200);
    daemon.kill('SIGHUP');
    await daemon.waitFor(/msg="configuration reloaded"/, limitMs);
    daemon.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    return daemon.output();
  } finally {
    await daemon.stop();
  }
}

describe('end-to-end, planted files', () => {
  it('executes no file from its directories', async () => {
    plant('.env', 'NODE_OPTIONS=--require=./planted.cjs\nAUTOMATION_EXPORTER_URL=http://127.0.0.1:9\n');
    plant('planted.cjs');
    plant('node.config.json', '{"nodeOptions":{"import":["./planted.cjs"]}}');
    plant('package.json', '{"type":"commonjs","main":"planted.cjs","imports":{"#state":"./planted.cjs"}}');
    for (const ending of ['js', 'cjs', 'mjs', 'ts']) {
      plant(`config.${ending}`);
      plant(`automation-exporter.config.${ending}`);
      plant(`state/index.${ending}`);
    }
    for (const name of ['state.sqlite.so', 'sqlite3.so', 'binding.node']) plant(`state/${name}`, '\u007fELF');
    for (const folder of ['node_modules', 'state/node_modules', 'home/.node_modules', 'home/.node_libraries'])
      plantPackages(folder);

    const output = await playOnce();
    expect(executed()).toEqual([]);
    const looked = join(directory, 'home/.node_modules/supports-color/index.js');
    expect(output).toContain(`${looked} is not loaded: it does not belong to the exporter; remove it\n`);

    const reader = startChild(process.execPath, ['-e', "require('express')"], { cwd: directory });
    await reader.ended;
    expect(executed()).toEqual(['node_modules/express/index.js']);
  }, 180_000);

  it('starts with a compile cache that has foreign content', async () => {
    plant('home/.keep', '');
    await playOnce();
    const cache = join(directory, 'home/.cache/automation-exporter-code');
    const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((found) => found.isFile());
    expect(files.length).toBeGreaterThan(50);
    const [first] = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
    for (const [index, { parentPath, name }] of files.entries())
      writeFileSync(join(parentPath, name), index % 2 === 0 ? planted(name) : (first ?? ''));
    await playOnce();
    expect(executed()).toEqual([]);
  }, 180_000);

  it('runs no SQL that another program put into the state', async () => {
    await playOnce();
    const database = new DatabaseSync(join(directory, 'state/state.sqlite'));
    database.exec('CREATE TRIGGER planted AFTER INSERT ON ledger_entry BEGIN DELETE FROM ledger_document; END');
    database.close();
    expect(await playOnce()).toMatch(/level=error msg="state damaged: last backup restored/);
  }, 180_000);

  it('executes no function in its configuration', async () => {
    writeFileSync(
      join(directory, 'config.yaml'),
      `servers: !!js/function 'function () { ${planted('config.yaml')} }'\n`,
    );
    const daemon = startDaemon();
    expect((await daemon.ended).code).toBe(2);
    expect(daemon.output()).toMatch(/^config\.yaml:1:\d+: is not YAML: unresolved tag/m);
    expect(executed()).toEqual([]);
  });
});
