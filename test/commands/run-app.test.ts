import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLineWriter } from '../../src/commands/line-writer.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';
import { runCli, runHere } from './run-cli.ts';

const env = { AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9', AUTOMATION_EXPORTER_TOKEN: 'a-token' };

describe.concurrent('commands/run-app', () => {
  it.each([
    ['file', 'the state directory file cannot be used: the path is not a directory; choose another `state.dir`\n'],
    [
      'file/below',
      'the state directory file/below cannot be used: the path is not a directory; choose another `state.dir`\n',
    ],
  ])('refuses %s as its state directory', async (directory, stderr) => {
    const files = { file: '' };
    const ended = await runHere(['serve', `--state.dir=${directory}`, '--web.listen-address=127.0.0.1:0'], {
      env,
      files,
    });

    expect(ended).toEqual({ code: 2, stdout: '', stderr, left: [] });
  });

  it('faults/row-25: does not use the state directory of another daemon', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-run-app-'));
    const args = ['serve', `--state.dir=${directory}/state`, '--web.listen-address=127.0.0.1:0'];
    const first = startCli(args, { env });
    try {
      const [, url] = await first.waitFor(/msg=serving url=(\S+)/);

      expect(await runCli(args, { env })).toEqual({
        code: 2,
        stdout: '',
        stderr: `the state directory ${directory}/state cannot be used: another process uses the state; stop the other process, or set another \`state.dir\`\n`,
        left: [],
      });
      expect((await fetch(`${url}/-/healthy`)).status).toBe(200);

      first.kill('SIGTERM');
      expect(await first.ended).toEqual({ code: 0, signal: null });
      expect(readdirSync(join(directory, 'state'))).toEqual(['backup.sqlite', 'state.commits', 'state.sqlite']);
      const next = startCli(args, { env });
      try {
        await next.waitFor(/msg=serving/);
      } finally {
        await next.stop();
      }
    } finally {
      await first.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it.each<[string, RegExp | undefined, readonly NodeJS.Signals[]]>([
    ['arrives twice at the same time', /msg=serving/, ['SIGTERM', 'SIGTERM']],
    ['arrives together with another signal', /msg=serving/, ['SIGINT', 'SIGTERM']],
    ['arrives twice during the start', undefined, ['SIGTERM', 'SIGTERM']],
  ])('stops cleanly if a signal %s', async (_title, stage, signals) => {
    const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-run-app-'));
    const state = join(directory, 'state');
    const daemon = startCli(['serve', `--state.dir=${state}`, '--web.listen-address=127.0.0.1:0'], { env });
    try {
      if (stage === undefined) await eventually(async () => readdirSync(state), { everyMs: 1 });
      else await daemon.waitFor(stage);
      for (const signal of signals) daemon.kill(signal);
      await daemon.waitFor(/msg=stopping/);
      daemon.kill('SIGTERM');

      expect(await daemon.ended).toEqual({ code: 0, signal: null });
      expect(readdirSync(state)).toEqual(['backup.sqlite', 'state.commits', 'state.sqlite']);
    } finally {
      await daemon.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('applies another configuration on request', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-run-app-'));
    const write = (name: string, rest: string): void => {
      const server = `{ name: ${name}, url: 'http://127.0.0.1:9', token_file: token }`;
      writeFileSync(join(directory, 'config.yaml'), `servers: [${server}]\nweb: { enable_lifecycle: true${rest} }\n`);
    };
    writeFileSync(join(directory, 'token'), 'a-token\n');
    write('one', ', timezone: America/New_York');
    const args = ['serve', '--state.memory', '--web.listen-address=127.0.0.1:0', '--config.file=config.yaml'];
    const daemon = startCli(args, { cwd: directory });
    try {
      const [, url] = await daemon.waitFor(/msg=serving url=(\S+)/);
      const read = async (path: string) => (await fetch(`${url}${path}`)).text();
      // The exporter updates its own metrics at most once a second.
      const shows = (value: string) =>
        eventually(async () => {
          expect(await read('/metrics')).toContain(`\nautomation_exporter_config_last_reload_successful ${value}\n`);
        });
      const reload = async () => {
        const response = await fetch(`${url}/-/reload`, { method: 'POST' });
        return { status: response.status, text: await response.text() };
      };
      expect(await read('/config')).toContain('name: one\n');
      expect(await read('/')).toMatch(/As of [-\d: ]+ E[DS]T;/);

      write('two', ', telemetry_path: /elsewhere');
      daemon.kill('SIGHUP');
      await daemon.waitFor(/msg="configuration reloaded" servers=1\n/);
      expect(daemon.output()).toContain(
        'msg="not reloaded" option="config.yaml:2:48 web.telemetry_path: takes effect only after a restart"\n',
      );
      expect(await read('/config')).toContain('name: two\n');
      expect(await read('/')).toMatch(/As of [-\d: ]+ UTC;/);
      await shows('1');

      write('a b', '');
      const complaint = 'config.yaml:1:19 servers[0].name: is not a name for a server (for example prod or eu-1)';
      expect(await reload()).toEqual({
        status: 500,
        text: `not reloaded, the previous configuration stays in force:\n${complaint}\n`,
      });
      expect(await read('/config')).toContain('name: two\n');
      await shows('0');

      write('three', ' }\nlog: { level: error');
      expect(await reload()).toEqual({ status: 200, text: 'reloaded\n' });
      expect(await read('/config')).toContain('name: three\n');
      await shows('1');
      // The log level excludes the last message.
      expect(daemon.output().match(/configuration reloaded/g)).toHaveLength(1);
    } finally {
      await daemon.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('reloads after its start if a hang-up signal arrives during the start', async ({ onTestFinished }) => {
    const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-run-app-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const [file, next] = [join(directory, 'config.yaml'), join(directory, 'next.yaml')];
    // The start waits until the pipe is closed.
    execFileSync('mkfifo', [file]);
    const pipe = openSync(file, 'r+');
    const daemon = startCli(['serve', `--config.file=${file}`, '--state.memory', '--web.listen-address=127.0.0.1:0'], {
      env,
    });
    onTestFinished(() => daemon.stop());
    await eventually(async () => {
      // The lowest bit of the mask is SIGHUP.
      expect(readFileSync(`/proc/${daemon.pid}/status`, 'utf8')).toMatch(/SigCgt:\t.*[13579bdf]$/m);
    });
    daemon.kill('SIGHUP');
    await daemon.waitFor(/config\.yaml" is still being read after 5 s: /);
    writeFileSync(next, '');
    renameSync(next, file);
    closeSync(pipe);
    await daemon.waitFor(/msg="configuration reloaded"/);
  });

  it('faults/row-27: keeps its configuration if the new file has errors', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-run-app-'));
    const file = join(directory, 'config.yaml');
    writeFileSync(file, 'log: { level: info }\n');
    const args = ['serve', '--state.memory', '--web.listen-address=127.0.0.1:0', '--config.file=config.yaml'];
    const daemon = startCli(args, { env, cwd: directory });
    try {
      const [, url] = await daemon.waitFor(/msg=serving url=(\S+)/);
      writeFileSync(file, 'log: { level: loud }\nweb: { port: 1 }\n');
      daemon.kill('SIGHUP');
      await daemon.waitFor(/complaint="config\.yaml:2:8 web\.port: is not a known key .*"\n/);

      const lines = daemon.output().split('\n');
      expect(
        lines.filter((line) =>
          line.includes('msg="configuration reload failed: previous configuration stays in force"'),
        ),
      ).toHaveLength(2);
      expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
      daemon.kill('SIGTERM');
      expect(await daemon.ended).toEqual({ code: 0, signal: null });
    } finally {
      await daemon.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('reports which port is already in use', async () => {
    const holder = createServer();
    const port = await listen(holder);
    try {
      const args = ['serve', `--web.listen-address=127.0.0.1:${port}`];
      expect(await runHere(args, { env })).toEqual({
        code: 1,
        stdout: '',
        stderr: `port ${port} is in use: stop the program that uses it, or choose another with --web.listen-address=:PORT\n`,
        left: [],
      });
      expect(holder.listening).toBe(true);
    } finally {
      await new Promise((resolve) => holder.close(resolve));
    }
  });

  it.each(['192.0.2.1', 'nowhere.invalid'])('reports that %s does not belong to this machine', async (host) => {
    const args = ['serve', '--state.memory', `--web.listen-address=${host}:0`];

    expect(await runHere(args, { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: '--web.listen-address is not an address of this machine\n',
      left: [],
    });
  });

  it('warns that configured log records or metrics are not sent', async () => {
    const logs = {
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://127.0.0.1:9/v1/logs',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:9/v1/metrics',
    };
    const file = join(mkdtempSync(join(tmpdir(), 'automation-exporter-run-app-')), 'config.yaml');
    writeFileSync(file, 'log: { level: info }\n');
    const args = ['serve', '--state.memory', '--web.listen-address=127.0.0.1:0', `--config.file=${file}`];
    const daemon = startCli(args, { env: { ...env, ...logs } });
    try {
      await daemon.waitFor(/msg=serving/);
      expect(daemon.output()).toMatch(/level=warn msg="metrics are not pushed, .*set OTEL_METRICS_EXPORTER to otlp"/);
      expect(daemon.output()).not.toContain('log records');
      writeFileSync(file, 'diagnosis: { logs: lines }\n');
      daemon.kill('SIGHUP');
      await daemon.waitFor(
        /level=warn msg="log records are not sent, because traces are not: .*traces\.enabled to auto"/,
      );
    } finally {
      await daemon.stop();
      rmSync(dirname(file), { recursive: true });
    }
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
  it.each([
    ['127.0.0.1:0', /msg=serving url=http:\/\/127\.0\.0\.1:\d+ /],
    ['0.0.0.0:0', /msg=serving url=http:\/\/localhost:\d+ /],
    [':0', /msg=serving url=http:\/\/localhost:\d+ /],
    ['[::1]:0', hasIpv6 ? /msg=serving url=http:\/\/\[::1\]:\d+ / : /none of this machine's/],
  ])('prints an address for browsers if it listens on %s', async (address, line) => {
    const daemon = startCli(['serve', '--state.memory', `--web.listen-address=${address}`], { env });
    try {
      expect(await daemon.waitFor(line)).not.toBeNull();
    } finally {
      await daemon.stop();
    }
  });
});

let written: string[];
let told: number[];

class Stream extends EventEmitter {
  writableLength = 0;
  write(text: string): void {
    written.push(text);
    this.writableLength += text.length;
  }
}

beforeEach(() => {
  written = [];
  told = [];
});

describe('commands/line-writer', () => {
  it('stores at most 256 KB for a reader that has stopped reading', () => {
    const stream = new Stream();
    const write = createLineWriter(stream, (dropped) => told.push(dropped));
    for (let line = 0; line < 1000; line++) write('x'.repeat(1024));
    expect(written).toHaveLength(257);
    expect(told).toEqual([]);

    stream.writableLength = 0;
    stream.emit('drain');
    expect(told).toEqual([743]);
    write('again');
    expect(written.at(-1)).toBe('again');
    expect(told).toEqual([743]);
  });

  it('writes to a file again after its disk was full', ({ onTestFinished }) => {
    const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-run-app-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const log = join(directory, 'log');
    const script = `import { createLineWriter, openStandardError } from './src/commands/line-writer.ts';
      const write = createLineWriter(openStandardError(), (dropped) => write('dropped ' + dropped));
      for (const size of [2000, 2000, 2000]) write('x'.repeat(size));
      (await import('node:fs')).truncateSync(process.env.LOG); write('again');`;
    const shell = 'ulimit -f 1 && exec "$0" --input-type=module -e "$1" 2>>"$LOG"';
    execFileSync('bash', ['-c', shell, process.execPath, script], { env: { ...process.env, LOG: log } });
    expect(readFileSync(log, 'utf8')).toBe('\ndropped 3again');
  });

  it('stops writing after the reader has ended', () => {
    const stream = new Stream();
    const write = createLineWriter(stream, (dropped) => told.push(dropped));
    write('one');
    stream.emit('error');
    write('two');
    expect(written).toEqual(['one']);
  });
});
