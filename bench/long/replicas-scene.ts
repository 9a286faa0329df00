import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../../simulator/simulator.ts';
import { toTraceId } from '../../src/tracing/plan/ids.ts';
import { type Child, startCli } from '../../test/support/child.ts';
import { type CutProxy, startCutProxy } from '../../test/support/cut-proxy.ts';
import { freePort } from '../../test/support/listen.ts';
import { type PostgresServer, startPostgres, writeReplicaConfig } from '../../test/support/postgres.ts';
import { startPrometheus } from '../../test/support/prometheus.ts';
import { createBalancer, createReplicaWatch, pause, startDigests } from './replicas-watch.ts';

/** A daemon with its own connection to the database and its own clock. */
export type Replica = {
  readonly name: string;
  readonly url: string;
  readonly wire: CutProxy;
  readonly child: () => Child;
  readonly start: () => Promise<void>;
  /** Sets its wall clock, and leaves the monotonic clock unchanged. */
  readonly setClock: (aheadSeconds: number) => void;
};

const loadEveryMs = 500;
export const requestsPerSecond = 30;
const settleMs = 180_000;

export type ReplicaScene = Awaited<ReturnType<typeof startReplicaScene>>;

/** Starts a watched server, a trace backend, a Prometheus, and three daemons with one PostgreSQL. */
export async function startReplicaScene(tools: { readonly postgres: string; readonly prometheus: string | undefined }) {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-replicas-'));
  let database = await startPostgres(tools.postgres);
  const requestTicks: number[] = [];
  const simulator = await startSimulator({
    scenario: 'empty',
    token: 'a-token',
    retained: Infinity,
    onRequest: () => requestTicks.push(performance.now()),
  });
  simulator.control.createProject('shop');
  simulator.control.createJob('shop', { name: 'settle', group: 'nightly' }, 'settle');
  const { traces, server: digests } = await startDigests();
  const sinkUrl = await listen(digests);
  const replicas: Replica[] = [];
  for (const name of ['a', 'b', 'c']) {
    const wire = await startCutProxy(() => database.port);
    replicas.push(
      await createReplica({ name, folder: join(folder, name), wire, database, url: simulator.url, sinkUrl }),
    );
  }
  const balancer = createBalancer(replicas);
  const target = new URL(await listen(balancer)).host;
  let finished = 0;
  /** The end of each execution and the fault at that time, by trace. */
  const ended = new Map<string, string>();
  let isLoaded = false;
  const finish = (): void => {
    const nowMs = Date.now();
    const run = { jobId: 'settle', startedAtMs: nowMs - 1000, endedAtMs: nowMs };
    const id = simulator.control.addFinished('shop', run);
    ended.set(toTraceId(simulator.url, String(id)), `${id} at ${new Date(nowMs).toISOString()}, ${watch.during()}`);
    finished += 1;
  };
  const load = setInterval(() => {
    if (isLoaded) finish();
  }, loadEveryMs);
  const watch = createReplicaWatch(replicas, () => finished);
  const prometheus =
    tools.prometheus === undefined
      ? undefined
      : await startPrometheus({
          prometheus: tools.prometheus,
          target,
          job: 'replicas',
          paths: ['/0/metrics', '/1/metrics', '/2/metrics'],
        });

  /** Waits until a replica shows the server with the right value. */
  async function waitFor(isRight: (owner: { readonly replica: Replica; readonly value: number }) => boolean) {
    const startedTicks = performance.now();
    for (;;) {
      const owner = watch.owner();
      if (owner !== undefined && isRight(owner)) return { ...owner, ms: performance.now() - startedTicks };
      if (performance.now() - startedTicks > settleMs)
        throw new Error(`${finished} ended, ${JSON.stringify(owner?.value)} shown`);
      await pause(50);
    }
  }

  return {
    replicas,
    watch,
    traces,
    prometheus,
    requestTicks,
    finished: () => finished,
    ended,
    database: () => database,
    finish,
    setLoad: (isOn: boolean): void => {
      isLoaded = isOn;
    },
    /** Waits until one replica has counted every execution that ended. */
    settle: () => waitFor(({ value }) => value === finished),
    /** Waits until every execution that has ended by now is shown. */
    settleUnderLoad: () => {
      const least = finished;
      return waitFor(({ value }) => value >= least);
    },
    /** Waits until another replica shows all later executions. */
    waitForOther: (than: Replica) => {
      const least = finished + 1;
      return waitFor(({ replica, value }) => replica !== than && value >= least);
    },
    startStandby: () => startPostgres(tools.postgres, {}, database),
    /** Kills the primary; the standby replaces it. */
    failOver: async (standby: PostgresServer): Promise<void> => {
      const old = database;
      await old.crash();
      await standby.query('SELECT pg_promote()');
      database = standby;
      await old.stop();
    },
    stop: async (): Promise<void> => {
      clearInterval(load);
      await watch.stop();
      for (const { child, wire } of replicas) {
        child().kill('SIGCONT');
        await child().stop();
        await wire.close();
      }
      await prometheus?.stop();
      digests.closeAllConnections();
      digests.close();
      balancer.closeAllConnections();
      balancer.close();
      await simulator.stop();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type ReplicaParts = {
  readonly name: string;
  readonly folder: string;
  readonly wire: CutProxy;
  readonly database: PostgresServer;
  readonly url: string;
  readonly sinkUrl: string;
};

async function createReplica({ name, folder, wire, database, url, sinkUrl }: ReplicaParts): Promise<Replica> {
  mkdirSync(folder);
  writeReplicaConfig(folder, { ...database, port: wire.port }, url);
  const config = join(folder, 'config.yaml');
  // The budget is enough for the steps of all executions.
  const budget = `budget: { requests_per_second: ${requestsPerSecond} } }]`;
  writeFileSync(config, readFileSync(config, 'utf8').replace(' }]', `, ${budget}`));
  const port = await freePort();
  const clock = join(folder, 'clock');
  const faketime = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0];
  const setClock = (aheadSeconds: number): void =>
    writeFileSync(clock, `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds}\n`);
  setClock(0);
  let child: Child | undefined;
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    wire,
    setClock,
    child: () => {
      if (child === undefined) throw new Error('it was not started');
      return child;
    },
    start: async () => {
      child = startCli(['serve', `--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`], {
        env: {
          HOME: folder,
          OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sinkUrl,
          ...(faketime === undefined
            ? {}
            : {
                LD_PRELOAD: faketime,
                FAKETIME_TIMESTAMP_FILE: clock,
                FAKETIME_CACHE_DURATION: '1',
                DONT_FAKE_MONOTONIC: '1',
              }),
        },
      });
      await child.waitFor(/url=(http:\S+)/, 60_000);
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // This cast is safe: the address of a TCP server has a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
