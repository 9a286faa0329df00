import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeMemoryFolder } from '../support/memory-folder.ts';

/** True if the test can mount a file system; only root can, and not in every container. */
const canMount = mayMount();

/** A time limit that is enough on a busy machine. */
const patience = { limitMs: 60_000 };

type Own = Awaited<ReturnType<typeof setUp>>;
type Running = {
  readonly child: Child;
  readonly url: string;
  readonly read: (name: string) => Promise<number | undefined>;
};

/** A daemon process with its state on disk, and a service without own events. */
async function setUp() {
  const directory = makeMemoryFolder('automation-exporter-ourselves-');
  onTestFinished(async () => rmSync(directory, { recursive: true, force: true }));
  const state = join(directory, 'state');
  const simulator = await startSimulator({ scenario: 'empty' });
  onTestFinished(() => simulator.stop());
  simulator.control.createProject('pay', ['node01']);
  const flags = [
    '--collector.executions.every=1s',
    '--collector.system-info.every=1s',
    '--metrics.hold-new-series=0s',
    '--web.listen-address=127.0.0.1:0',
    `--state.dir=${state}`,
  ];
  return {
    directory,
    state,
    simulator,
    start: async (env: Readonly<Record<string, string>> = {}) => {
      const of = { AUTOMATION_EXPORTER_URL: simulator.url, AUTOMATION_EXPORTER_TOKEN: simulator.token };
      const child = startCli(['serve', ...flags], { env: { ...of, ...env } });
      onTestFinished(child.stop);
      const [, url = ''] = await child.waitFor(/msg=serving url=(\S+)/, patience.limitMs);
      const read = async (name: string): Promise<number | undefined> => {
        const text = await (await fetch(`${url}/metrics`)).text();
        const values = text.split('\n').filter((line) => line.startsWith(name));
        return values[0] === undefined ? undefined : Number(values[0].slice(values[0].lastIndexOf(' ') + 1));
      };
      return { child, url, read };
    },
  };
}

const counted =
  'automation_executions_total{server="default",project="pay",job_group="",job_name="",status="succeeded"}';
const resets = 'automation_exporter_state_resets_total';

/** Ends runs until the daemon has counted this number. */
async function countTo(many: number, { simulator }: Own, { read }: Running): Promise<void> {
  const have = (await read(counted)) ?? 0;
  for (let more = have; more < many; more += 1) {
    const nowMs = Date.now();
    simulator.control.addFinished('pay', { startedAtMs: nowMs - 1000, endedAtMs: nowMs - 10 });
  }
  await eventually(async () => expect(await read(counted)).toBe(many), patience);
}

async function isReady({ url }: Running): Promise<void> {
  await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), patience);
}

/** Starts the daemon and waits until it has counted this many runs. */
async function startCounting(many: number, own: Own, env?: Parameters<Own['start']>[0]): Promise<Running> {
  const running = await own.start(env);
  await isReady(running);
  await countTo(many, own, running);
  return running;
}

/** Leaves a state with five counted runs, and its backup. */
async function leaveFive(own: Own): Promise<void> {
  await (await startCounting(5, own)).child.stop();
}

describe('end-to-end/faults of our own', { timeout: 180_000 }, () => {
  it('faults/row-25: a truncated state file is restored from its backup', async () => {
    const own = await setUp();
    await leaveFive(own);
    truncateSync(join(own.state, 'state.sqlite'), 8192);
    const again = await own.start();
    await again.child.waitFor(/msg="state damaged: last backup restored/, patience.limitMs);
    await eventually(async () => expect(await again.read(counted)).toBe(5), patience);
    await countTo(7, own, again);
    expect(await again.read(resets)).toBe(1);
    expect(readdirSync(own.state).filter((name) => name.includes('.damaged-')).length).toBeGreaterThan(0);
  });

  it('faults/row-25: flipped bits in the state file are noticed', async () => {
    const own = await setUp();
    await leaveFive(own);
    flip(join(own.state, 'state.sqlite'));
    const again = await own.start();
    await again.child.waitFor(/msg="state damaged: last backup restored/, patience.limitMs);
    await eventually(async () => expect(await again.read(counted)).toBe(5), patience);
    expect(await again.read(resets)).toBe(1);
  });

  it('faults/row-25: a state of a newer release is not changed', async () => {
    const own = await setUp();
    await leaveFive(own);
    const file = join(own.state, 'state.sqlite');
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 1000');
    database.exec('UPDATE state_identity SET version = 1000');
    database.close();
    const before = readFileSync(file);
    const env = { AUTOMATION_EXPORTER_URL: own.simulator.url, AUTOMATION_EXPORTER_TOKEN: own.simulator.token };
    const child = startCli(['serve', `--state.dir=${own.state}`, '--web.listen-address=127.0.0.1:0'], { env });
    expect((await child.ended).code).toBe(2);
    expect(child.output()).toMatch(/newer/);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('faults/row-25: a removed state directory is written again', async () => {
    const own = await setUp();
    const running = await startCounting(3, own);
    rmSync(own.state, { recursive: true });
    await countTo(5, own, running);
    await running.child.waitFor(/level=error msg="state directory removed or replaced: writing it again"/);
    // The response to a scrape may be a second old.
    await eventually(async () => expect(await running.read(resets)).toBe(1), patience);
    await running.child.stop();
    const again = await own.start();
    await eventually(async () => expect(await again.read(counted)).toBe(5), patience);
    expect(await again.read(resets)).toBe(0);
  });

  it('faults/row-23: a stop during a scrape and a delivery loses nothing', async () => {
    const own = await setUp();
    const hanging = createServer(() => undefined);
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      hanging.closeAllConnections();
      hanging.close();
    });
    const asked = new Promise((resolve) => hanging.once('request', resolve));
    const { port } = hanging.address() as AddressInfo;
    const running = await startCounting(3, own, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    await asked;
    const scrapes = Array.from({ length: 20 }, () =>
      fetch(`${running.url}/metrics`).then((answer) => answer.text(), String),
    );
    running.child.kill('SIGTERM');
    expect(await running.child.ended).toEqual({ code: 0, signal: null });
    // No response may be cut off.
    for (const text of await Promise.all(scrapes)) expect(text).toMatch(/^#[\s\S]*\n$|fetch failed/);

    const again = await own.start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    await eventually(async () => expect(await again.read(counted)).toBe(3), patience);
    expect(await again.read('automation_exporter_spool_traces')).toBeGreaterThan(0);
  });

  it('faults/row-24: a full disk delays only counting', async () => {
    const own = await setUp();
    const running = await startCounting(3, own);
    limitFiles(running.child.pid, '1');
    own.simulator.control.addFinished('pay', { startedAtMs: Date.now() - 1000, endedAtMs: Date.now() - 10 });
    const success = 'automation_exporter_collector_success{server="default",collector="executions"}';
    await eventually(async () => expect(await running.read(success)).toBe(0), patience);
    expect(await running.read(counted)).toBe(3);
    expect(await running.read('automation_up')).toBe(1);
    expect(running.child.output()).toContain('the state cannot be written');
    limitFiles(running.child.pid, 'unlimited');
    await eventually(async () => expect(await running.read(counted)).toBe(4), patience);
    await eventually(async () => expect(await running.read(success)).toBe(1), patience);
    expect(await running.read(resets)).toBe(0);
  });

  it.skipIf(!canMount)('faults/row-24: faults/row-25: a full file system delays only counting', async () => {
    const own = await setUp();
    mkdirSync(own.state);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', own.state]);
    onTestFinished(() => void execFileSync('umount', [own.state]));
    const running = await startCounting(3, own);
    const filler = join(own.state, 'filler');
    fill(filler);
    own.simulator.control.addFinished('pay', { startedAtMs: Date.now() - 1000, endedAtMs: Date.now() - 10 });
    const success = 'automation_exporter_collector_success{server="default",collector="executions"}';
    await eventually(async () => expect(await running.read(success)).toBe(0), patience);
    expect(await running.read(counted)).toBe(3);
    expect(await running.read('automation_up')).toBe(1);
    rmSync(filler);
    await eventually(async () => expect(await running.read(counted)).toBe(4), patience);
    expect(await running.read(resets)).toBe(0);
    await running.child.stop();

    execFileSync('mount', ['-o', 'remount,ro', own.state]);
    const refused = startCli(['serve', `--state.dir=${own.state}`, '--web.listen-address=127.0.0.1:0'], {
      env: { AUTOMATION_EXPORTER_URL: own.simulator.url, AUTOMATION_EXPORTER_TOKEN: own.simulator.token },
    });
    expect((await refused.ended).code).toBe(2);
    expect(refused.output()).toContain(`the state directory ${own.state} cannot be used: the file system is read-only`);
    execFileSync('mount', ['-o', 'remount,rw', own.state]);
    const again = await own.start();
    await eventually(async () => expect(await again.read(counted)).toBe(4), patience);
    expect(await again.read(resets)).toBe(0);
    await again.child.stop();
  });

  it('faults/row-26: continues after the process was suspended', async () => {
    const own = await setUp();
    const running = await own.start();
    await isReady(running);
    await countTo(2, own, running);
    running.child.kill('SIGSTOP');
    onTestFinished(() => running.child.kill('SIGCONT'));
    await expect(fetch(`${running.url}/metrics`, { signal: AbortSignal.timeout(3000) })).rejects.toThrow('timeout');
    running.child.kill('SIGCONT');
    await running.child.waitFor(
      /level=warn msg="held up: nothing was polled or served" seconds=[2-9]/,
      patience.limitMs,
    );
    await countTo(4, own, running);
    expect(await running.read('automation_up')).toBe(1);
  });
});

/** Flips a bit in each copy of a result in the file. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  let flipped = 0;
  for (let at = bytes.indexOf('"succeeded"'); at >= 0; at = bytes.indexOf('"succeeded"', at + 1)) {
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 0x04;
    flipped += 1;
  }
  expect(flipped).toBeGreaterThan(0);
  writeFileSync(file, bytes);
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-mount-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder]).status === 0;
  if (mounted) execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return mounted;
}

function fill(file: string): void {
  const handle = openSync(file, 'w');
  try {
    for (const bytes of [65_536, 1]) while (writes(handle, bytes));
  } finally {
    closeSync(handle);
  }
}

function writes(handle: number, bytes: number): boolean {
  try {
    return writeSync(handle, Buffer.alloc(bytes)) > 0;
  } catch {
    return false;
  }
}

/** Limits the file size of the process, like a full disk. */
function limitFiles(pid: number, bytes: string): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
}
