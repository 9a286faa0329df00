import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool } from '../../scripts/tools.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { toSeries } from '../../test/end-to-end/scraped.ts';
import { type Child, startCli } from '../../test/support/child.ts';
import { startPostgres, writeReplicaConfig } from '../../test/support/postgres.ts';

const rounds = Number(process.env['TAKEOVERS'] ?? 20);
const counter =
  'automation_executions_total{server="prod",project="shop",job_group="nightly",job_name="settle",status="succeeded"}';
/** The number of rounds in which a lease must expire. */
const killed = Math.ceil(rounds / 2);
const paused = Math.ceil(rounds / 6);
const followMs = 30_000;
const scrapeEveryMs = 250;
const maxMs = 60_000;

const owned = 'automation_exporter_lease_owned{server="prod"}';

/** The times from the loss of the owner until another replica has the lease, and until it shows all executions. */
type Takeover = { readonly acquiredMs: number; readonly countedMs: number };
type Replica = { readonly child: Child; readonly url: string };
type Way = 'killed' | 'stopped by SIGSTOP' | 'ended';

/**
 * Three daemons on one PostgreSQL, whose owner is repeatedly killed, stopped or ended. Measures the time until another
 * daemon shows the server.
 */
export async function run() {
  const tool = findTool('postgresql');
  if (tool === undefined) return [];
  const scene = await startScene(tool);
  try {
    const follower = await scene.measureFollower();
    const afterKill = await scene.takeOver('killed', killed);
    const afterPause = await scene.takeOver('stopped by SIGSTOP', paused);
    const ended = await scene.takeOver('ended', rounds);
    const missing = await scene.countMissing();
    return [
      toFigure('after SIGKILL, until all is counted', afterKill, 'countedMs', 30),
      toFigure('after SIGSTOP, until all is counted', afterPause, 'countedMs', 30),
      toFigure('after the end of a process by SIGTERM, until the lease is acquired', ended, 'acquiredMs', 2),
      toFigure('the same, until all is counted', ended, 'countedMs', 2),
      toRow('scrapes with falling counters, over all replicas', scene.falls(), 0),
      toRow('checks in which two replicas showed the server', scene.doubles(), 0),
      toRow('executions that are not counted once', missing, 0),
      {
        what: 'cost of a replica that owns nothing, in a minute',
        figure: `${((follower.cpuSeconds * 60_000) / followMs).toFixed(2)} s of processor time, ${follower.memoryMb.toFixed(0)} MB resident`,
        mustReach: 'reported',
        reached: true,
      },
    ];
  } finally {
    await scene.stop();
  }
}

async function startScene(tool: NonNullable<ReturnType<typeof findTool>>) {
  const server = await startPostgres(tool);
  const simulator = await startSimulator({ scenario: 'empty', token: 'a-token' });
  simulator.control.createProject('shop');
  simulator.control.createJob('shop', { name: 'settle', group: 'nightly' }, 'settle');
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-takeover-'));
  writeReplicaConfig(folder, server, simulator.url);
  const replicas: Replica[] = [];
  let finished = 0;
  let highest = 0;
  let falls = 0;
  let doubles = 0;

  async function startReplica(): Promise<void> {
    const listen = '--web.listen-address=127.0.0.1:0';
    const child = startCli(['serve', `--config.file=${join(folder, 'config.yaml')}`, listen]);
    const [, url = ''] = await child.waitFor(/url=(http:\S+)/, maxMs);
    replicas.push({ child, url });
  }

  function finish(): void {
    const nowMs = Date.now();
    simulator.control.addFinished('shop', { jobId: 'settle', startedAtMs: nowMs - 1000, endedAtMs: nowMs });
    finished += 1;
  }

  async function scrapeAll() {
    return Promise.all(
      replicas.map(async (replica) => {
        const text = await fetch(`${replica.url}/metrics`, { signal: AbortSignal.timeout(1000) }).then(
          (response) => response.text(),
          () => '',
        );
        const series = toSeries(text);
        return { replica, isOwner: series.get(owned) === 1, value: series.get(counter) };
      }),
    );
  }

  /** Returns the owners of the server and the replica that shows it; counts falling counters. */
  async function look() {
    const all = await scrapeAll();
    const shown = all.filter(({ value }) => value !== undefined);
    for (const { value = highest } of shown) {
      if (value < highest) falls += 1;
    }
    highest = Math.max(highest, ...shown.map(({ value = 0 }) => value));
    if (shown.length > 1) doubles += 1;
    const owners = all.filter(({ isOwner }) => isOwner).map(({ replica }) => replica);
    return { owners, only: shown.length === 1 ? shown[0] : undefined };
  }

  async function waitForOwner(than?: Replica): Promise<Takeover & { readonly replica: Replica }> {
    const startedTicks = performance.now();
    let acquiredMs: number | undefined;
    for (;;) {
      const { owners, only } = await look();
      const ms = performance.now() - startedTicks;
      if (owners.some((replica) => replica !== than)) acquiredMs ??= ms;
      if (only !== undefined && only.replica !== than && only.value === finished)
        return { replica: only.replica, acquiredMs: acquiredMs ?? ms, countedMs: ms };
      if (ms > 2 * maxMs) throw new Error('no replica shows the server');
      await new Promise((resolve) => setTimeout(resolve, scrapeEveryMs));
    }
  }

  async function takeOverOnce(way: Way): Promise<Takeover> {
    const { replica: owner } = await waitForOwner();
    finish();
    await waitForOwner();
    const { child } = owner;
    if (way === 'killed') child.kill('SIGKILL');
    if (way === 'stopped by SIGSTOP') child.kill('SIGSTOP');
    if (way === 'ended') child.kill('SIGTERM');
    if (way !== 'stopped by SIGSTOP') await child.ended;
    finish();
    const taken = await waitForOwner(owner);
    if (way === 'stopped by SIGSTOP') child.kill('SIGCONT');
    else {
      replicas.splice(replicas.indexOf(owner), 1);
      await startReplica();
    }
    return taken;
  }

  for (let count = 0; count < 3; count += 1) await startReplica();
  finish();
  await waitForOwner();
  return {
    falls: () => falls,
    doubles: () => doubles,
    takeOver: async (way: Way, times: number): Promise<readonly Takeover[]> => {
      const took: Takeover[] = [];
      for (let time = 0; time < times; time += 1) took.push(await takeOverOnce(way));
      return took;
    },
    measureFollower: async () => {
      const { replica: owner } = await waitForOwner();
      const follower = replicas.find((replica) => replica !== owner);
      if (follower === undefined) throw new Error('no replica follows');
      const before = readProcess(follower.child.pid);
      await new Promise((resolve) => setTimeout(resolve, followMs));
      const after = readProcess(follower.child.pid);
      return { cpuSeconds: after.cpuSeconds - before.cpuSeconds, memoryMb: after.memoryMb };
    },
    countMissing: async (): Promise<number> => {
      const [row] = await server.query('SELECT count(*)::int AS entries FROM automation_exporter.ledger_entry');
      return Math.abs(finished - Number((row as { readonly entries?: number } | undefined)?.entries));
    },
    stop: async (): Promise<void> => {
      for (const { child } of replicas) {
        child.kill('SIGCONT');
        await child.stop();
      }
      await Promise.all([simulator.stop(), server.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function readProcess(pid: number): { readonly cpuSeconds: number; readonly memoryMb: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuSeconds: ticks / 100, memoryMb: Number(resident) / 1024 };
}

function toFigure(what: string, took: readonly Takeover[], until: keyof Takeover, maxSeconds: number) {
  const sorted = took.map((each) => each[until]).toSorted((one, other) => one - other);
  const at = (share: number): number => (sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN) / 1000;
  return {
    what: `${what}, ${sorted.length} times: median, p95, longest`,
    figure: `${at(0.5).toFixed(1)}, ${at(0.95).toFixed(1)}, ${at(1).toFixed(1)} s`,
    mustReach: `${maxSeconds} s at most`,
    reached: at(1) <= maxSeconds,
  };
}

function toRow(what: string, value: number, most: number) {
  return { what, figure: String(value), mustReach: `${most} at most`, reached: value <= most };
}
