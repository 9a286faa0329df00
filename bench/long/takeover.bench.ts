import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool } from '../../scripts/tools.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { toSeries } from '../../test/end-to-end/scraped.ts';
import { type Child, startCli } from '../../test/support/child.ts';
import { startPostgres, writeReplicaConfig } from '../../test/support/postgres.ts';

const rounds = Number(process.env['TAKEOVERS'] ?? 20);
const counter =
  'automation_executions_total{server="prod",project="shop",job_group="nightly",job_name="settle",status="succeeded"}';
/** A lease has to expire in each: half of the rounds, and a few, keep all of it below six minutes. */
const killed = Math.ceil(rounds / 2);
const paused = Math.ceil(rounds / 6);
const followMs = 30_000;
const scrapeEveryMs = 250;
const longestMs = 60_000;

type Replica = { readonly child: Child; readonly url: string };
type Way = 'killed' | 'stopped in its tracks' | 'ended';

/**
 * Three daemons on one PostgreSQL: their owner is killed, stopped, or ended, again and again. Measures the time until another one
 * shows the server, and reads on the way whether a counter falls, or two show it.
 */
export async function run() {
  const tool = findTool('postgresql');
  if (tool === undefined) return [];
  const scene = await startScene(tool);
  try {
    const follower = await scene.measureFollower();
    const afterKill = await scene.takeOver('killed', killed);
    const afterPause = await scene.takeOver('stopped in its tracks', paused);
    const ended = await scene.takeOver('ended', rounds);
    const missing = await scene.countMissing();
    return [
      toFigure('a takeover after SIGKILL', afterKill, 30),
      toFigure('a takeover after SIGSTOP', afterPause, 30),
      toFigure('a takeover after SIGTERM, from the end of the process', ended, 2),
      toRow('scrapes that showed less than one before, over all replicas', scene.falls(), 0),
      toRow('looks at which two replicas showed the server', scene.doubles(), 0),
      toRow('executions that are not counted once', missing, 0),
      {
        what: 'a replica that owns nothing, in a minute',
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
    const [, url = ''] = await child.waitFor(/url=(http:\S+)/, longestMs);
    replicas.push({ child, url });
  }

  function finish(): void {
    const nowMs = Date.now();
    simulator.control.addFinished('shop', { jobId: 'settle', startedAtMs: nowMs - 1000, endedAtMs: nowMs });
    finished += 1;
  }

  /** Returns the one replica that shows the server, with what it shows; counts falls and doubles on the way. */
  async function look(): Promise<{ readonly replica: Replica; readonly value: number } | undefined> {
    const shown = await Promise.all(
      replicas.map(async (replica) => {
        const text = await fetch(`${replica.url}/metrics`, { signal: AbortSignal.timeout(1000) }).then(
          (response) => response.text(),
          () => '',
        );
        const value = toSeries(text).get(counter);
        return value === undefined ? [] : [{ replica, value }];
      }),
    );
    const all = shown.flat();
    for (const { value } of all) if (value < highest) falls += 1;
    highest = Math.max(highest, ...all.map(({ value }) => value));
    if (all.length > 1) doubles += 1;
    return all.length === 1 ? all[0] : undefined;
  }

  async function waitForOwner(than?: Replica): Promise<{ readonly replica: Replica; readonly ms: number }> {
    const startedTicks = performance.now();
    for (;;) {
      const found = await look();
      const ms = performance.now() - startedTicks;
      if (found !== undefined && found.replica !== than && found.value === finished) return { ...found, ms };
      if (ms > 2 * longestMs) throw new Error('nobody shows the server');
      await new Promise((resolve) => setTimeout(resolve, scrapeEveryMs));
    }
  }

  async function takeOverOnce(way: Way): Promise<number> {
    const { replica: owner } = await waitForOwner();
    finish();
    await waitForOwner();
    const { child } = owner;
    if (way === 'killed') child.kill('SIGKILL');
    if (way === 'stopped in its tracks') child.kill('SIGSTOP');
    if (way === 'ended') child.kill('SIGTERM');
    if (way !== 'stopped in its tracks') await child.ended;
    finish();
    const { ms } = await waitForOwner(owner);
    if (way === 'stopped in its tracks') child.kill('SIGCONT');
    else {
      replicas.splice(replicas.indexOf(owner), 1);
      await startReplica();
    }
    return ms;
  }

  for (let count = 0; count < 3; count += 1) await startReplica();
  finish();
  await waitForOwner();
  return {
    falls: () => falls,
    doubles: () => doubles,
    takeOver: async (way: Way, times: number): Promise<readonly number[]> => {
      const took: number[] = [];
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

function toFigure(what: string, tookMs: readonly number[], mostSeconds: number) {
  const sorted = tookMs.toSorted((one, other) => one - other);
  const at = (share: number): number => (sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN) / 1000;
  return {
    what: `${what}, ${sorted.length} times: median, p95, longest`,
    figure: `${at(0.5).toFixed(1)}, ${at(0.95).toFixed(1)}, ${at(1).toFixed(1)} s`,
    mustReach: `${mostSeconds} s at most`,
    reached: at(1) <= mostSeconds,
  };
}

function toRow(what: string, value: number, most: number) {
  return { what, figure: String(value), mustReach: `${most} at most`, reached: value <= most };
}
