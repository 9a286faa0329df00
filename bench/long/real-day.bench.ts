import { readFileSync } from 'node:fs';
import { judgeCounters, judgeFacts } from './real-counters.ts';
import { judgeFigures } from './real-figures.ts';
import { type Cpu, type Finding, isUp, type Journal, readJournal, readSteps } from './real-journal.ts';
import { judgeMisses } from './real-misses.ts';
import { readSeries } from './real-series.ts';
import { RealServer } from './real-server.ts';
import { judgeTraces } from './real-traces.ts';

/**
 * Judges an exporter of a real server by the notes of `real-recorder`: counters, traces, missed runs, figures, cost.
 * `REAL_SERVER_URL` and `REAL_SERVER_ADMIN_TOKEN_FILE` name the server, `REAL_EXPORTER_URL` the exporter, `REAL_DAY_FOLDER`
 * the notes, `REAL_DAY_SINCE` the first start of the exporter. `REAL_DAY_CHECKS` chooses some checks, such as `traces,misses`.
 */
const settledMs = 150_000;

export async function run() {
  const server = new RealServer(
    required('REAL_SERVER_URL'),
    readFileSync(required('REAL_SERVER_ADMIN_TOKEN_FILE'), 'utf8').trim(),
    0,
  );
  const exporterUrl = required('REAL_EXPORTER_URL');
  const checks = process.env['REAL_DAY_CHECKS']?.split(',');
  const isWanted = (name: string): boolean => checks?.includes(name) ?? true;
  const figures = isWanted('figures') ? await judgeFigures(server, exporterUrl) : [];
  const metrics = await readSeries(exporterUrl);
  const nowMs = Date.now();
  const recorded = readJournal(required('REAL_DAY_FOLDER'));
  const fromMs = Number(process.env['REAL_DAY_SINCE'] ?? recorded.readings.find(isUp)?.atMs);
  const journal = { ...recorded, executions: await joinListed(server, recorded.executions, fromMs) };
  const throughMs = nowMs - settledMs;
  const span = { metrics, fromMs, throughMs };
  const findings = [
    ...(isWanted('counters') ? judgeCounters(journal, span) : []),
    ...(isWanted('facts') ? judgeFacts(journal, { ...span, nowMs }) : []),
    ...(isWanted('traces') ? judgeTraces(journal, { ...span, namespace: server.url }) : []),
    ...(isWanted('misses') ? judgeMisses(journal, { ...span, nowMs }) : []),
    ...figures,
  ];
  return [...findings.map(toRow), ...(isWanted('cost') ? toCosts(journal, metrics) : [])];
}

/** Joins the recorded rows with those that the server lists now: the recorder may be behind, and deleted rows are not listed. */
async function joinListed(server: RealServer, recorded: Journal['executions'], fromMs: number) {
  const joined = new Map(recorded);
  const projects = (await server.json('47/projects')) as readonly { readonly name: string }[];
  for (const { name } of projects)
    for (const row of await server.listEnded(name, fromMs, Date.now())) {
      const before = joined.get(row.id);
      const steps = before ?? { firstAtMs: Date.now(), ...(await readSteps(server, row)) };
      joined.set(row.id, { ...steps, rows: [...(before?.rows ?? []), row], row: before?.row ?? row });
    }
  return joined;
}

function toRow({ what, checked, wrong }: Finding) {
  for (const text of wrong.slice(0, 40)) console.log(`    ${text}`);
  const figure = `${String(checked)} compared, ${String(wrong.length)} differ`;
  return { what, figure, mustReach: 'none differs', reached: wrong.length === 0 };
}

/** Computes the cost from the least and the median minute, because the same jobs run with and without the exporter. */
function toCosts({ readings }: Journal, metrics: Awaited<ReturnType<typeof readSeries>>) {
  const minutes = { with: [] as number[], without: [] as number[] };
  let requests = 0;
  for (const { value } of metrics.of('automation_exporter_api_request_duration_seconds_count')) requests += value;
  const [started] = metrics.of('process_start_time_seconds');
  const upMinutes = (Date.now() / 1000 - (started?.value ?? 0)) / 60;
  for (const same of Map.groupBy(readings, ({ atMs }) => Math.floor(atMs / 60_000)).values()) {
    const [first, last] = [same[0], same.at(-1)];
    const share = toShare(first?.server, last?.server, (last?.atMs ?? 0) - (first?.atMs ?? 0));
    if (share === undefined || same.length < 6) continue;
    if (!same.some(isUp)) minutes.without.push(share);
    else if (same.every(isUp)) minutes.with.push(share);
  }
  const [withUs, without] = [middle(minutes.with), middle(minutes.without)];
  return [
    {
      what: 'CPU time of the server, median minute',
      figure: `${(withUs * 100).toFixed(1)} % of a core in ${String(minutes.with.length)} minutes, without the exporter ${(without * 100).toFixed(1)} % in ${String(minutes.without.length)}`,
      mustReach: 'at most 2 % more',
      reached: withUs - without <= 0.02,
    },
    {
      what: 'requests a minute since the last start',
      figure: (requests / upMinutes).toFixed(1),
      mustReach: 'none',
      reached: true,
    },
  ];
}

function toShare(first: Cpu | undefined, last: Cpu | undefined, tookMs: number): number | undefined {
  if (!first || !last || first.pid !== last.pid || tookMs < 30_000) return undefined;
  return (last.cpuMs - first.cpuMs) / tookMs;
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}
