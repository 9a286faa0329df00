import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { freePort } from '../support/listen.ts';
import { type PostgresServer, startPostgres, writeReplicaConfig } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';
import { toSeries } from './scraped.ts';

const counter =
  'automation_executions_total{server="prod",project="shop",job_group="nightly",job_name="settle",status="succeeded"}';

type Replica = { readonly child: Child; readonly url: string };

/** The longest time until leases have expired after a fault. */
const takeoverMs = 30_000;

describeWithTools('end-to-end, replicas on a real PostgreSQL', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let simulator: Simulator;
  const folder = makeSharedFolder();
  let finished = 0;
  const replicas: Replica[] = [];

  beforeAll(async () => {
    server = await startPostgres(postgresql);
    simulator = await startSimulator({ scenario: 'empty', token: 'a-token' });
    simulator.control.createProject('shop');
    simulator.control.createJob('shop', { name: 'settle', group: 'nightly' }, 'settle');
    writeReplicaConfig(folder, server, simulator.url);
  }, 60_000);
  afterAll(async () => {
    for (const { child } of replicas) {
      child.kill('SIGCONT');
      await child.stop();
    }
    await Promise.all([simulator.stop(), server.stop()]);
  }, 60_000);

  async function startReplica(): Promise<Replica> {
    const url = `http://127.0.0.1:${await freePort()}`;
    const child = startCli([
      'serve',
      `--config.file=${join(folder, 'config.yaml')}`,
      `--web.listen-address=${new URL(url).host}`,
      `--web.external-url=${url}`,
    ]);
    await child.waitFor(/url=http:\S+/, 60_000);
    const replica = { child, url };
    replicas.push(replica);
    return replica;
  }

  function finish(runs: number): void {
    const nowMs = Date.now();
    for (let run = 0; run < runs; run += 1) {
      simulator.control.addFinished('shop', { jobId: 'settle', startedAtMs: nowMs - 1000, endedAtMs: nowMs });
    }
    finished += runs;
  }

  /** Returns the only replica with the counter, and its value. */
  async function readShown(): Promise<readonly { readonly replica: Replica; readonly value: number }[]> {
    const shown = await Promise.all(
      replicas.map(async (replica) => {
        const text = await fetch(`${replica.url}/metrics`, { signal: AbortSignal.timeout(2000) }).then(
          (response) => response.text(),
          () => '',
        );
        const value = toSeries(text).get(counter);
        return value === undefined ? [] : [{ replica, value }];
      }),
    );
    return shown.flat();
  }

  /** Waits until one replica shows that every execution was counted once. */
  async function readOwner(): Promise<Replica> {
    return eventually(
      async () => {
        const [first, ...others] = await readShown();
        if (first === undefined || others.length > 0) throw new Error('not shown by exactly one replica');
        expect(first.value).toBe(finished);
        return first.replica;
      },
      { limitMs: takeoverMs },
    );
  }

  /** Checks that pages of another replica lead to the owner. */
  async function leadsToOwner({ url }: Replica): Promise<void> {
    for (const other of replicas.filter((replica) => replica.url !== url)) {
      for (const path of [
        '/executions/prod/1',
        '/jobs/prod/shop/nightly/settle',
        '/schedule',
        '/schedule/prod',
        '/tonight',
        '/jobs',
      ]) {
        const { url: led } = await fetch(`${other.url}${path}`);
        expect(led).toBe(`${url}${path}`);
      }
      const status = (await (await fetch(`${other.url}/api/status`)).json()) as Record<string, unknown>;
      expect(status).toMatchObject({ well: null, summary: '"prod" is watched by another exporter', problems: [] });
      expect(await (await fetch(`${other.url}/`)).text()).toContain(`<a href="${url}/">`);
    }
  }

  /** Waits until the lost database is the worst problem. */
  async function showsLostDatabase({ url }: Replica): Promise<void> {
    const problems = await eventually(
      async () => {
        const status = (await (await fetch(`${url}/api/status`)).json()) as {
          readonly problems: readonly { kind: string }[];
        };
        const kinds = status.problems.map(({ kind }) => kind);
        expect(kinds[0]).toBe('database');
        return kinds;
      },
      { limitMs: 10_000 },
    );
    expect(problems).not.toContain('waiting');
    await eventually(async () =>
      expect(toSeries(await (await fetch(`${url}/metrics`)).text()).get('automation_exporter_state_up')).toBe(0),
    );
  }

  it('counts every execution once although owners and database are killed', async () => {
    await startReplica();
    await Promise.all([startReplica(), startReplica()]);
    finish(5);
    const first = await readOwner();
    await leadsToOwner(first);
    first.child.kill('SIGKILL');
    finish(7);
    const second = await readOwner();
    expect(second).not.toBe(first);

    second.child.kill('SIGSTOP');
    finish(3);
    const third = await readOwner();
    expect(third).not.toBe(second);
    second.child.kill('SIGCONT');
    finish(2);
    expect(await readOwner()).toBe(third);

    await server.crash();
    await showsLostDatabase(third);
    finish(4);
    await server.start();
    await readOwner();
    expect(await server.query('SELECT count(*)::int AS entries FROM automation_exporter.ledger_entry')).toEqual([
      { entries: 21 },
    ]);
  }, 240_000);

  it('releases its servers when it stops', async () => {
    const owner = await readOwner();
    const readLease = () =>
      server.query(
        `SELECT 1 FROM automation_exporter.lease WHERE address = '${owner.url}' AND expires > clock_timestamp()`,
      );
    expect(await readLease()).toHaveLength(1);
    await startReplica();
    owner.child.kill('SIGTERM');
    await owner.child.ended;
    // If the owner had not released its lease, the lease would last some seconds longer.
    expect(await readLease()).toEqual([]);
    finish(6);
    expect(await readOwner()).not.toBe(owner);
  }, 120_000);
});
