import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { loadOrComplain } from '../../src/commands/load.ts';
import { createLog } from '../../src/commands/log.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { createApp } from '../../src/daemon/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { type FaultyUpstream, startFaultyUpstream } from './faulty-upstream.ts';

/** The samples of one server without its label. */
export type Series = Readonly<Record<string, number | undefined>>;

export type Watch = {
  readonly simulator: Simulator;
  readonly upstream: FaultyUpstream;
  readonly directory: string;
  /** The time that is added to the daemon's clocks. */
  readonly clockShift: { nowMs: number; ticks: number };
  /** Scrapes, and checks the healthy server; returns the series of the faulty one. */
  readonly scrape: () => Promise<Series>;
  /** Waits until both servers have new values of all their series. */
  readonly isWell: () => Promise<void>;
  /** The number of polls of the healthy server. */
  readonly healthyRounds: () => number;
  readonly logged: readonly string[];
};

type WatchOptions = {
  /** More options of the faulty server, as one line of YAML. */
  readonly faulty?: string;
  /** A shorter timeout, for late responses. */
  readonly timeout?: string;
  readonly url?: (upstream: FaultyUpstream) => string;
  readonly simulated?: SimulatorOptions;
  readonly certificate?: SecureContextOptions;
  readonly before?: (upstream: FaultyUpstream, directory: string) => Promise<void>;
};

const watched = ['system-info', 'execution-mode', 'healthcheck', 'log-storage'] as const;

/** Runs a daemon with a faulty and a healthy server until the test ends. Hooks do not work with repeated concurrent tests. */
export async function watchFaults(options: WatchOptions, test: (watch: Watch) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-'));
  const simulator = await startSimulator({ scenario: 'empty', apiVersion: 47, ...options.simulated });
  const healthy = await startSimulator({ scenario: 'empty', apiVersion: 47 });
  const upstream = await startFaultyUpstream(simulator.url, options.certificate);
  const logged: string[] = [];
  const clockShift = { nowMs: 0, ticks: 0 };
  const clock = fakeClock({
    now: () => Date.now() + clockShift.nowMs,
    ticks: () => performance.now() + clockShift.ticks,
  });
  writeFileSync(join(directory, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  await options.before?.(upstream, directory);
  const url = options.url?.(upstream) ?? upstream.url;
  const config = await load(directory, [
    `name: faulty, url: '${url}', timeout: ${options.timeout ?? '5s'}${options.faulty === undefined ? '' : `, ${options.faulty}`}`,
    `name: healthy, url: '${healthy.url}', timeout: 5s`,
  ]);
  const log = createLog({ ...config.log, secrets: () => [], write: (line) => logged.push(line) });
  const app = createApp({ config, log, version: 'test', onSecret: () => {}, clock });
  try {
    const { url: daemonUrl } = await app.start();
    const scrapeBoth = async () => {
      // A scrape without a fast response counts as failed.
      const answer = await fetch(`${daemonUrl}/metrics`, { signal: AbortSignal.timeout(3000) });
      const text = await answer.text();
      return { faulty: toSeries(text, 'faulty'), healthy: toSeries(text, 'healthy') };
    };
    await soon(async () => expectWell((await scrapeBoth()).healthy));
    const scrape = async (): Promise<Series> => {
      const both = await scrapeBoth();
      expectWell(both.healthy);
      return both.faulty;
    };
    const isWell = async (): Promise<void> => {
      const sinceSeconds = clock.now() / 1000;
      await soon(async () => {
        const series = await scrape();
        expectWell(series);
        expectFresh(series, sinceSeconds);
      });
    };
    const healthyRounds = () => healthy.requests().filter(({ path }) => path.endsWith('/system/info')).length;
    await test({ healthyRounds, simulator, upstream, directory, clockShift, scrape, isWell, logged });
    expect(upstream.maxOpen()).toBeLessThanOrEqual(8);
  } finally {
    await app.stop(() => undefined);
    await upstream.die();
    await Promise.all([simulator.stop(), healthy.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

export type PlayedFault = {
  readonly begin: () => unknown;
  readonly end: () => unknown;
  /** The expected series of the faulty server during the fault; undefined for missing series. */
  readonly shows: Series;
  /** The maximum number of requests during the fault, and more for each second. */
  readonly atMost: { readonly first: number; readonly perSecond: number };
  /** Whether the server works before the fault (default). */
  readonly wellBefore?: boolean;
};

/** Plays a fault and checks its series, its requests and the recovery. Returns the kinds of the counted errors. */
export async function playFault(watch: Watch, fault: PlayedFault): Promise<readonly string[]> {
  const { upstream, scrape, logged } = watch;
  if (fault.wellBefore !== false) await watch.isWell();
  const before = await scrape();
  const [requests, lines, beganTicks] = [upstream.requests.length, logged.length, performance.now()];
  await fault.begin();
  const look = async (): Promise<Series> => {
    const series = await scrape();
    const names = Object.keys(fault.shows);
    expect(Object.fromEntries(names.map((name) => [name, series[name]]))).toEqual(fault.shows);
    return series;
  };
  await soon(look);
  // After two more polls, series are the same, and memory and connections have not grown.
  const rounds = watch.healthyRounds();
  await soon(async () => expect(watch.healthyRounds()).toBeGreaterThanOrEqual(rounds + 2));
  const after = await look();
  // Each collector logs a failure once, however long the fault lasts.
  const complaints = logged.slice(lines).filter((line) => /msg="poll failed".* server=faulty/.test(line));
  expect(complaints.length).toBeLessThanOrEqual(12);
  const seconds = (performance.now() - beganTicks) / 1000;
  const { first, perSecond } = fault.atMost;
  // The exporter's own metrics may be a second old.
  const triedBefore = Math.max(requests, sumOf(before, requested));
  const tries = sumOf(after, requested) - triedBefore;
  expect(Math.max(tries, upstream.requests.length - requests)).toBeLessThanOrEqual(first + perSecond * seconds);
  await soon(async () => expect(upstream.open()).toBeLessThanOrEqual(4));

  await fault.end();
  await watch.isWell();
  return newKinds(before, after);
}

/** Retries for up to 20 s, because a busy machine is slow. */
export function soon<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  return eventually(ask, { limitMs: 20_000 });
}

const requested = /^automation_exporter_api_requests_total\{/;

/** The sum of all samples whose name matches. */
export function sumOf(series: Series, name: RegExp): number {
  let sum = 0;
  for (const [sample, value = 0] of Object.entries(series)) if (name.test(sample)) sum += value;
  return sum;
}

/** Makes a test file fail if it leaves a socket, server or timer open. */
export function watchResources(): void {
  let before: readonly string[] = [];
  vi.setConfig({ maxConcurrency: 14 });
  beforeAll(() => {
    before = process.getActiveResourcesInfo();
  });
  afterAll(async () => {
    const left = (name: string): boolean => count(process.getActiveResourcesInfo(), name) > count(before, name);
    await soon(async () => expect(openedByTests.filter(left)).toEqual([]));
  });
}

/** Pipes of the test runner are not counted. */
const openedByTests = ['TCPSocketWrap', 'TCPServerWrap', 'TLSWrap', 'Timeout', 'Immediate', 'GetAddrInfoReqWrap'];

function count(resources: readonly string[], name: string): number {
  return resources.filter((resource) => resource === name).length;
}

/** The error kinds whose counters rose between two scrapes. */
function newKinds(before: Series, after: Series): string[] {
  const kinds = Object.entries(after).flatMap(([sample, value = 0]) => {
    if (!sample.startsWith('automation_exporter_api_errors_total{') || value <= (before[sample] ?? 0)) return [];
    return [/kind="(\w+)"/.exec(sample)?.[1] ?? ''];
  });
  return [...new Set(kinds)].sort();
}

function expectWell(series: Series): void {
  expect(series).toMatchObject({
    automation_up: 1,
    automation_credentials_accepted: 1,
    automation_exporter_circuit_open: 0,
    'automation_exporter_collector_success{collector="system-info"}': 1,
    'automation_exporter_collector_success{collector="execution-mode"}': 1,
    'automation_exporter_collector_success{collector="healthcheck"}': 1,
    'automation_exporter_collector_success{collector="log-storage"}': 1,
    automation_log_storage_enabled: expect.any(Number) as number,
    automation_scheduler_thread_pool_size: 10,
    'automation_healthcheck_healthy{check="quartz.scheduler.threadPool"}': 1,
    'automation_execution_mode{mode="active"}': expect.any(Number) as number,
  });
}

function expectFresh(series: Series, sinceSeconds: number): void {
  for (const collector of watched) {
    const at = series[`automation_exporter_collector_last_success_timestamp_seconds{collector="${collector}"}`];
    expect(at).toBeGreaterThanOrEqual(sinceSeconds);
  }
}

function toSeries(text: string, server: string): Series {
  const label = `server="${server}"`;
  const series: Record<string, number> = {};
  for (const line of text.split('\n')) {
    if (line.startsWith('#') || !line.includes(label)) continue;
    const [sample = '', value] = line.replace(label, '').split(/ (?=\S+$)/);
    series[sample.replace('{,', '{').replace(',,', ',').replace(',}', '}').replace('{}', '')] = Number(value);
  }
  return series;
}

async function load(directory: string, servers: readonly string[]) {
  const file = join(directory, 'config.yaml');
  const token = join(directory, 'token');
  const text = `servers:
${servers.map((server) => `  - { token_file: '${token}', ${server} }`).join('\n')}
collectors:
${watched.map((name) => `  ${name}: { enabled: true, every: 1s }`).join('\n')}
web: { listen_address: '127.0.0.1:0' }
state: { memory: true }
`;
  writeFileSync(file, text);
  const argv = [`--config.file=${file}`, '--collector.disable-defaults'];
  const complain = (text: string): never => {
    throw new Error(text);
  };
  const context = { env: {}, version: 'test', write: complain, complain };
  const loaded = await loadOrComplain({ ...context, arguments: parseArguments(argv, { collectors }) });
  if (loaded === undefined) throw new Error('the configuration is wrong');
  return loaded.config;
}
