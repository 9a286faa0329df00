import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findDanger } from '../../src/commands/start.ts';
import { provideCli } from '../support/built.ts';
import { startChild, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/listen.ts';

const env = { AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9', AUTOMATION_EXPORTER_TOKEN: 'a-token' };
const root = fileURLToPath(new URL('../..', import.meta.url));
let home: string;

beforeEach(() => {
  home = makeFolder();
});

async function run(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = startCli(args, { env: { HOME: home, ...variables } });
  await child.ended;
  return child.output();
}

describe('cli: compile cache', () => {
  it('stores compiled code where only the user can write', async () => {
    expect(await run(['--version'])).toMatch(/^automation-exporter \S+\n$/);
    const cache = join(home, '.cache/automation-exporter-code');
    expect((statSync(cache).mode & 0o777).toString(8)).toBe('700');
    expect(readdirSync(cache)).not.toEqual([]);
  });

  it('refuses a directory to which other users can write', async () => {
    const cache = join(home, 'automation-exporter-code');
    mkdirSync(cache);
    chmodSync(cache, 0o777);

    expect(await run(['--version'], { XDG_CACHE_HOME: home })).toContain(
      `the compile cache ${cache} is not used: other users can use the directory; chmod 700 it, or remove it\n`,
    );
    expect(readdirSync(cache)).toEqual([]);
  });

  it('refuses a file that another user created or can replace', () => {
    const own = { uid: 1000, mode: 0o40700, isDirectory: () => true };
    const judge = (found: Partial<typeof own>, parent: Partial<typeof own> = {}) =>
      findDanger({ ...own, ...found }, { ...own, ...parent }, { userId: 1000 });

    expect(judge({})).toBeUndefined();
    expect(judge({}, { uid: 0, mode: 0o41777 })).toBeUndefined();
    expect(judge({ isDirectory: () => false })).toBe('the path is not a directory; remove it');
    expect(judge({ uid: 1001 })).toBe('the directory belongs to another user (1001); remove it');
    expect(judge({ mode: 0o40750 })).toBe('other users can use the directory; chmod 700 it, or remove it');
    expect(judge({}, { uid: 1001 })).toBe('another user (1001) can replace the directory');
    expect(judge({}, { mode: 0o40777 })).toBe(
      'other users can replace the directory: they can write to its parent directory',
    );
  });
});

describe('cli: process', () => {
  const serve = ['serve', '--state.memory', '--web.listen-address=127.0.0.1:0'];

  it('opens no debugger on request', async () => {
    const daemon = startCli(serve, { env });
    onTestFinished(() => daemon.stop());
    const [, url] = await daemon.waitFor(/msg=serving url=(\S+)/);
    daemon.kill('SIGUSR1');
    daemon.kill('SIGHUP');
    await daemon.waitFor(/msg="configuration reloaded"/);
    expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
    expect(daemon.output()).not.toContain('Debugger');
    expect(readFileSync(`/proc/${daemon.pid}/cmdline`, 'latin1')).toMatch(/^automation-exporter/);
  });

  it('fails if its output does not fit on the disk', async () => {
    const play = async (script: string) => {
      const child = startChild('bash', ['-c', script, 'bash', process.execPath, provideCli()], { env: { HOME: home } });
      return [(await child.ended).code, child.output()];
    };
    const [code, output] = await play('exec "$@" metrics > /dev/full');
    expect([code, output]).toEqual([1, expect.stringContaining('the output is incomplete: ENOSPC')]);
    expect(await play('"$@" metrics | head -1; exit $PIPESTATUS')).toEqual([0, '# Metrics\n']);
  });

  it('writes nothing that controls the terminal', async () => {
    const text = await run(['replay', join(home, 'a\u001b[2J\u202e')]);
    expect(text).toContain('a\\u001b[2J\\u202e');
    expect(text).not.toContain('\u001b');
  });

  it('ends together with `npm start`', async () => {
    const npm = startChild('npm', ['start', '--', ...serve], { cwd: root, env: { ...env, HOME: home } });
    try {
      const [, url] = await npm.waitFor(/msg=serving url=(\S+)/);
      npm.kill('SIGTERM');
      await npm.waitFor(/msg=stopping signal=SIGTERM/);
      await npm.ended;
      await expect(fetch(`${url}/-/healthy`)).rejects.toThrow('fetch failed');
    } finally {
      for (const pid of listChildren(npm.pid)) process.kill(pid, 'SIGKILL');
      await npm.stop();
    }
  });

  it('continues after the reader of its log has ended', async () => {
    const { child, url } = await startWithPipes();
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr?.destroy();
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    await eventually(async () => {
      expect(await (await fetch(`${url}/metrics`)).text()).toContain('config_last_reload_successful 1\n');
    });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('ends normally although the reader of its log has stopped reading', async () => {
    const { child, url, configFile } = await startWithPipes();
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr?.pause();
    const wrong = Array.from({ length: 1600 }, (_, index) => `unknown_key_number_${index}: ${'x'.repeat(60)}\n`);
    writeFileSync(configFile, wrong.join(''));
    for (let reload = 0; reload < 3; reload++) {
      expect((await fetch(`${url}/-/reload`, { method: 'POST' })).status).toBe(500);
    }
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('reports an unexpected error in one sentence', async () => {
    const script = `
      const { endOnFaults } = await import(${JSON.stringify(new URL('../../src/commands/faults.ts', import.meta.url).href)});
      endOnFaults();
      setTimeout(() => { throw new Error('something odd', { cause: new Error('deep down') }); });
    `;
    const child = startChild(process.execPath, ['--input-type=module', '-e', script]);
    expect((await child.ended).code).toBe(1);
    expect(child.output()).toBe('automation-exporter ended: an unexpected error: something odd: deep down\n');
  });

  /** Starts a daemon on a known port; the test can read its log. */
  async function startWithPipes(): Promise<{ child: ChildProcess; url: string; configFile: string }> {
    const port = await freePort();
    const configFile = join(home, 'config.yaml');
    writeFileSync(configFile, 'log: { level: debug }\n');
    const args = [provideCli(), 'serve', '--state.memory', `--config.file=${configFile}`, '--web.enable-lifecycle'];
    const child = spawn(process.execPath, [...args, `--web.listen-address=127.0.0.1:${port}`], {
      env: { ...env, HOME: home, PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const url = `http://127.0.0.1:${port}`;
    try {
      await eventually(async () => expect((await fetch(`${url}/-/healthy`)).status).toBe(200));
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    return { child, url, configFile };
  }
});

function listChildren(pid: number): number[] {
  try {
    const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
    return own.flatMap((child) => [child, ...listChildren(child)]);
  } catch {
    return [];
  }
}
