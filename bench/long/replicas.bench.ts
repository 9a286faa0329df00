import { findTool } from '../../scripts/tools.ts';
import { eventually } from '../../test/support/eventually.ts';
import { mayMount, nemeses } from './replicas-nemeses.ts';
import { type ReplicaScene, requestsPerSecond, startReplicaScene } from './replicas-scene.ts';
import { pause } from './replicas-watch.ts';

const rounds = Number(process.env['REPLICA_ROUNDS'] ?? 10);
const minutes = Number(process.env['REPLICA_MINUTES'] ?? 60);
const only = process.env['REPLICA_ONLY'];
const calmMs = Number(process.env['REPLICA_CALM_SECONDS'] ?? 45) * 1000;
/** The time for requests about steps. */
const tracesMs = 1_200_000;
const budgetOfMinute = 60 * requestsPerSecond;
const counted = 'automation_executions_total';
const job = 'job_name="settle",status="succeeded"';
const hasRead = 'automation_exporter_collector_success{server="prod",collector="executions"} 1';

/** Repeats all faults of three daemons on one PostgreSQL, and checks every scrape. */
export async function run() {
  const postgres = findTool('postgresql');
  if (postgres === undefined) return [];
  const scene = await startReplicaScene({ postgres, prometheus: findTool('prometheus') });
  try {
    const alone = await measureAlone(scene);
    const startedTicks = performance.now();
    const took = new Map<string, number[]>();
    for (let round = 0; round < rounds && performance.now() - startedTicks < minutes * 60_000; round += 1) {
      await playRound(scene, round, took);
    }
    await scene.settle();
    return [...toTimes(took), ...(await judge(scene)), alone];
  } finally {
    await scene.stop();
  }
}

async function playRound(scene: ReplicaScene, round: number, took: Map<string, number[]>): Promise<void> {
  for (const { name, kind, play } of nemeses) {
    if (only !== undefined && !name.includes(only)) continue;
    if (name.includes('disk') && !mayMount()) continue;
    scene.watch.begin(`round ${round + 1}, ${name}`);
    const said = scene.replicas.map(({ child }) => child());
    const from = said.map((child) => child.output().length);
    const ms = await play(scene, round);
    scene.setLoad(false);
    await scene.settle();
    const key = `${kind}: ${name}`;
    took.set(key, [...(took.get(key) ?? []), ms]);
    console.log(`  ${new Date().toISOString()} round ${round + 1}, ${name}: ${(ms / 1000).toFixed(1)} s`);
    for (const fault of scene.watch.faults.splice(0)) console.log(`    ${fault}`);
    for (const [index, { name: replica }] of scene.replicas.entries()) {
      const lines = said[index]?.output().slice(from[index]).split('\n') ?? [];
      for (const line of lines)
        if (/level=(?:warn|error)|server (?:acquired|given up)/.test(line))
          console.log(`      ${replica} ${line.slice(0, 300)}`);
    }
  }
}

/** Compares the requests of one daemon with those of three under the same load. */
async function measureAlone(scene: ReplicaScene) {
  const [first, ...others] = scene.replicas;
  await first?.start();
  // Executions that ended before the first round do not count.
  await eventually(async () => {
    const text = await (await fetch(`${first?.url}/metrics`)).text();
    if (!text.includes(hasRead)) throw new Error('the first round is not over');
  });
  scene.finish();
  await scene.settle();
  scene.setLoad(true);
  const one = await countRequests(scene);
  await Promise.all(others.map(({ start }) => start()));
  await pause(5000);
  const three = await countRequests(scene);
  scene.setLoad(false);
  return {
    what: 'requests in a minute from three replicas, and from one',
    figure: `${three.toFixed(0)}, ${one.toFixed(0)}`,
    mustReach: '1.1 times at most',
    reached: three <= 1.1 * one,
  };
}

async function countRequests({ requestTicks }: ReplicaScene): Promise<number> {
  const before = requestTicks.length;
  await pause(calmMs);
  return ((requestTicks.length - before) * 60_000) / calmMs;
}

async function judge(scene: ReplicaScene) {
  const { counts } = scene.watch;
  const [row] = await scene
    .database()
    .query('SELECT count(*)::int AS entries, count(DISTINCT id)::int AS ids FROM automation_exporter.ledger_entry');
  const { entries, ids } = row as { entries: number; ids: number };
  const finished = scene.finished();
  const waited = performance.now();
  const left = finished - scene.traces.size;
  await eventually(
    async () => {
      if (scene.traces.size < finished) throw new Error(`${scene.traces.size} traces`);
    },
    { limitMs: tracesMs },
  ).catch(() => undefined);
  const waitedSeconds = ((performance.now() - waited) / 1000).toFixed(0);
  const missing = finished - scene.traces.size;
  console.log(`  ${left} traces waited for their steps at the end; ${waitedSeconds} s later ${missing} were missing`);
  const traces = [...scene.traces.values()];
  for (const [traceId, run] of scene.ended) if (!scene.traces.has(traceId)) console.log(`  without a trace: ${run}`);
  for (const [traceId, { versions }] of scene.traces)
    if (versions.size > 1) console.log(`  ${scene.ended.get(traceId)}: ${[...versions.values()].join('; ')}`);
  return [
    toRow(`counters that fell in ${counts.scrapes} scrapes of all replicas`, counts.falls, 0),
    toRow('checks in which two replicas showed the server', counts.doubles, 0),
    toRow(
      'checks in which two replicas showed the server just after transactions were lost',
      counts.pardonedDoubles,
      Infinity,
    ),
    toRow('scrapes that showed more executions than had ended', counts.tooMany, 0),
    toRow(
      `executions of ${finished} that are not exactly once in the ledger`,
      Math.abs(finished - entries) + entries - ids,
      0,
    ),
    toRow(`executions of ${finished} without a trace`, finished - traces.length, 0),
    toRow('traces that came more than once', traces.filter(({ times }) => times > 1).length, Infinity),
    toRow('traces that came in two versions', traces.filter(({ versions }) => versions.size > 1).length, Infinity),
    toRow('requests in the busiest minute', countBusiest(scene.requestTicks), 1.1 * budgetOfMinute),
    ...(await judgeIncrease(scene)),
  ];
}

async function judgeIncrease({ prometheus, finished }: ReplicaScene) {
  if (prometheus === undefined) return [];
  const range = `${Math.ceil(performance.now() / 1000) + 60}s`;
  const series = `max without (instance, path) (${counted}{${job}})`;
  const read = async (expr: string): Promise<number> => {
    const [found] = (await prometheus.query(expr)) as readonly { readonly value: readonly [number, string] }[];
    return Number(found?.value[1]);
  };
  const increase = await read(`increase((${series})[${range}:1s])`);
  const first = await read(`min_over_time((${series})[${range}:1s])`);
  const truth = finished() - first;
  for (const fall of await listFalls(prometheus, `${counted}{${job}}`, range)) console.log(`  ${fall}`);
  return [
    {
      what: 'increase() of a Prometheus over the whole run, over all replicas',
      figure: `${increase.toFixed(1)} of ${truth}`,
      mustReach: 'at most 0.5 % different, and 2 outside of the samples',
      reached: Math.abs(increase - truth) <= 0.005 * truth + 2,
    },
  ];
}

/** Lists the counter resets that Prometheus found, each with its time. */
async function listFalls({ query }: NonNullable<ReplicaScene['prometheus']>, selector: string, range: string) {
  type Found = { readonly metric: Record<string, string>; readonly values: readonly (readonly [number, string])[] };
  const found = (await query(`${selector}[${range}]`)) as readonly Found[];
  return found.flatMap(({ metric, values }) =>
    values.flatMap(([atSeconds, value], index) => {
      const before = values[index - 1]?.[1] ?? value;
      if (Number(value) >= Number(before)) return [];
      return [`${new Date(atSeconds * 1000).toISOString()} ${metric['path']}: ${value} after ${before}`];
    }),
  );
}

function countBusiest(ticks: readonly number[]): number {
  let first = 0;
  let most = 0;
  for (const [index, tick] of ticks.entries()) {
    while (tick - (ticks[first] ?? tick) > 60_000) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

function toTimes(took: ReadonlyMap<string, readonly number[]>) {
  const takeovers = [...took].flatMap(([name, ms]) => (name.startsWith('takeover') ? ms : []));
  return [...took, ['all takeovers', takeovers] as const].map(([what, ms]) => {
    const sorted = ms.toSorted((one, other) => one - other);
    const at = (share: number): number => (sorted[Math.ceil(share * sorted.length) - 1] ?? 0) / 1000;
    return {
      what: `${what}, ${sorted.length} times: median, p95, longest`,
      figure: `${at(0.5).toFixed(1)}, ${at(0.95).toFixed(1)}, ${at(1).toFixed(1)} s`,
      mustReach: '95 % below 20 s, 30 s at most',
      reached: at(0.95) < 20 && at(1) <= 30,
    };
  });
}

function toRow(what: string, value: number, most: number) {
  return {
    what,
    figure: String(value),
    mustReach: most === Infinity ? 'reported' : `${most} at most`,
    reached: value <= most,
  };
}
