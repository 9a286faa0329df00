import { describe, expect, it, onTestFinished } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { seriesWith, toSeries } from './scraped.ts';

/** Collectors that poll each member of a cluster. */
const ofMembers = `
automation_app_duration_seconds
automation_app_duration_seconds_count
automation_app_events_total
automation_app_threads
automation_app_value
automation_credentials_accepted
automation_execution_mode
automation_healthcheck_healthy
automation_log_storage_enabled
automation_log_storage_failed_total
automation_log_storage_incomplete
automation_log_storage_info
automation_log_storage_missing
automation_log_storage_queued
automation_log_storage_requests
automation_log_storage_succeeded_total
automation_ping_duration_seconds
automation_scheduler_running_executions
automation_scheduler_thread_pool_size
automation_server_clock_skew_seconds
automation_server_info
automation_server_jvm_info
automation_server_memory_free_bytes
automation_server_memory_max_bytes
automation_server_memory_total_bytes
automation_server_os_info
automation_server_processors
automation_server_start_time_seconds
automation_server_threads_active
automation_up
`;

const often = ['system-info', 'execution-mode', 'healthcheck', 'ping', 'log-storage', 'app-metrics', 'executions'];
const settings = collectors.map(({ name, perMember }) => {
  return `  ${name}: { enabled: true, every: ${perMember || often.includes(name) ? '1s' : '6h'} }`;
});

type Watching = {
  readonly simulator: Simulator;
  readonly daemon: Daemon;
  readonly series: () => Promise<ReadonlyMap<string, number>>;
  readonly forward: (ms: number) => void;
};

async function watchCluster(options: SimulatorOptions, toMembers: (simulator: Simulator) => string): Promise<Watching> {
  const simulator = await startSimulator({ scenario: 'cluster-takeover', apiVersion: 47, ...options });
  onTestFinished(() => simulator.stop());
  simulator.control.configure({ commercial: true });
  let aheadMs = 0;
  const address = `url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 500 }`;
  const daemon = await startDaemon({
    yaml: `servers: [{ name: prod, ${address}${toMembers(simulator)} }]\ncollectors:\n${settings.join('\n')}\n`,
    token: simulator.token,
    clock: fakeClock({ now: Date.now, ticks: () => performance.now() + aheadMs }),
  });
  onTestFinished(() => daemon.stop());
  return {
    simulator,
    daemon,
    series: async () => toSeries(await daemon.metrics()),
    forward: (ms) => {
      aheadMs += ms;
    },
  };
}

/** The configuration of the members a, b and c. */
function listMembers({ memberUrls }: Simulator): string {
  const members = memberUrls.map((url, index) => `{ name: ${'abc'.charAt(index)}, url: '${url}' }`);
  return `, members: [${members.join(', ')}]`;
}

/** The families of the watched server, taken from the names of their samples. */
function familiesOf(series: ReadonlyMap<string, number>, isMember: (name: string) => boolean): string[] {
  const names = [...series.keys()].filter((name) => name.startsWith('automation_') && isMember(name));
  const families = new Set(names.map((name) => name.slice(0, name.indexOf('{'))));
  return [...families].filter((name) => !name.startsWith('automation_exporter_')).toSorted();
}

describe('end-to-end/members', () => {
  it('reads the values of each member from the member', async () => {
    const { series } = await watchCluster({ frozen: true, memberAddresses: true }, listMembers);

    await eventually(async () => {
      const all = await series();
      for (const member of ['a', 'b', 'c']) {
        const own = familiesOf(all, (name) => name.includes(`member="${member}"`));
        expect(own).toEqual(ofMembers.trim().split('\n'));
      }
      const common = familiesOf(all, (name) => !name.includes('member='));
      for (const family of ['automation_projects', 'automation_project_nodes', 'automation_tokens'])
        expect(common).toContain(family);
      for (const family of ['automation_executions_running', 'automation_job_info', 'automation_executions_recent'])
        expect(common).toContain(family);
      // The whole cluster also has a series of these two families, because executions are read from the whole cluster.
      const both = ['automation_credentials_accepted', 'automation_up'];
      expect(common.filter((name) => ofMembers.includes(`\n${name}\n`))).toEqual(both);
    });
    const all = await series();
    const uuids = seriesWith(all, 'automation_server_info{').map((name) => /server_uuid="([^"]+)"/.exec(name)?.[1]);
    expect(new Set(uuids).size).toBe(3);
  });

  it('removes the series of a lost member, and no other series', async () => {
    const { simulator, series, forward } = await watchCluster({ frozen: true, memberAddresses: true }, listMembers);
    const of = (all: ReadonlyMap<string, number>, isOf: (name: string) => boolean): string[] =>
      [...all.keys()].filter((name) => /^automation_(?!exporter_)/.test(name) && isOf(name)).toSorted();
    const isOfC = (name: string): boolean => name.includes('member="c"');
    const up = (member: string): string => `automation_up{server="prod",member="${member}"}`;
    const before = await eventually(async () => {
      const all = await series();
      expect(familiesOf(all, isOfC)).toEqual(ofMembers.trim().split('\n'));
      expect(familiesOf(all, (name) => name.includes('member="a"'))).toEqual(ofMembers.trim().split('\n'));
      expect(familiesOf(all, (name) => name.includes('member="b"'))).toEqual(ofMembers.trim().split('\n'));
      expect(seriesWith(all, 'automation_executions_recent{').length).toBeGreaterThan(0);
      expect(all.get('automation_up{server="prod"}')).toBe(1);
      const polls = collectors.reduce((sum, { perMember }) => sum + (perMember ? 3 : 1), 0);
      expect(seriesWith(all, 'automation_exporter_collector_duration_seconds{').length).toBe(polls);
      return all;
    });

    simulator.control.restart({ memberIndex: 2, downForMs: 3_600_000 });
    await eventually(async () => expect((await series()).get(up('c'))).toBe(0));
    // The series stay until their last values are too old.
    forward(61_000);
    await eventually(async () => {
      const all = await series();
      expect(of(all, isOfC)).toEqual(['automation_credentials_accepted{server="prod",member="c"}', up('c')]);
      expect(of(all, (name) => !isOfC(name) && !isVolatile(name))).toEqual(
        of(before, (name) => !isOfC(name) && !isVolatile(name)),
      );
      expect([all.get(up('a')), all.get(up('b')), all.get(up('c'))]).toEqual([1, 1, 0]);
      expect(all.get('automation_up{server="prod"}')).toBe(1);
    });
  });

  it('marks a run that the restart of its member interrupted', async () => {
    const { simulator, daemon } = await watchCluster({ speed: 30, memberAddresses: true }, listMembers);
    const { control } = simulator;
    control.createProject('long', ['web01']);
    const job = control.createJob('long', { name: 'endless', work: work(['web01'], [command('sleep', 86_400)]) });
    const id = control.runJob(job);
    const readRun = async () => (await fetch(`${daemon.url}/api/why?server=prod&execution=${id}`)).text();
    await eventually(async () => expect(await readRun()).toContain('still runs'));
    for (const memberIndex of [0, 1, 2]) control.restart({ memberIndex, cleanupAfterMs: 86_400_000 });
    await eventually(async () => expect(await readRun()).toContain('The restart of the server'));
  });

  it('hides values that would jump between members at one address', async () => {
    const { simulator, daemon, series } = await watchCluster({ speed: 30 }, ({ control }) => {
      control.restart({ memberIndex: 1 });
      control.setExecutionMode('passive');
      return '';
    });
    const dropped = (collector: string): string =>
      `automation_exporter_series_dropped_total{server="prod",collector="${collector}",reason="several_members"}`;

    await eventually(async () => {
      // A further request changes which member a poll reaches.
      await fetch(`${simulator.url}/api/47/system/info`);
      const all = await series();
      expect(all.get(dropped('log-storage'))).toBeGreaterThanOrEqual(2);
      expect(all.get(dropped('app-metrics'))).toBeGreaterThan(0);
      const counters = [...all.keys()].filter((name) => /^automation_(app|log_storage)_\w+_(total|count)\{/.test(name));
      expect(counters).toEqual([]);
    });
    const all = await series();
    for (const gauge of ['automation_log_storage_queued{', 'automation_app_value{', 'automation_server_info{'])
      expect(seriesWith(all, gauge)).not.toEqual([]);
    // Counters of data that all members share stay visible.
    await eventually(async () => expect(seriesWith(await series(), 'automation_executions_total{')).not.toEqual([]));
    expect(seriesWith(all, 'several_members').length).toBe(2);

    const readStatus = async () => (await (await fetch(`${daemon.url}/api/status`)).json()) as Status;
    const status = await readStatus();
    expect(status.servers.map(({ hides_members }) => hides_members)).toEqual([true]);
    // Members differ in starts and failures; all are passive.
    expect(seriesWith(all, 'automation_server_start_time_seconds')).toEqual([]);
    expect(all.get('automation_execution_mode{server="prod",mode="passive"}')).toBe(1);
    const kinds = new Set<string>();

    // The log has one line about the problem.
    const said = (): number => daemon.logged.filter((line) => line.includes('several members answer')).length;
    const seen = all.get(dropped('log-storage')) ?? 0;
    await eventually(async () => {
      for (const { kind } of (await readStatus()).problems) kinds.add(kind);
      expect((await series()).get(dropped('log-storage'))).toBeGreaterThan(seen + 3);
    });
    expect(['hidden', 'restarted', 'logs', 'passive'].filter((kind) => kinds.has(kind))).toEqual(['hidden', 'passive']);
    expect(said()).toBe(1);
  });
});

type Status = {
  readonly problems: readonly { readonly kind: string }[];
  readonly servers: readonly { readonly hides_members: boolean }[];
};

/** Reports whether series with this name come and go with runs. */
function isVolatile(name: string): boolean {
  // The server's clock looks set back, so the newest executions are counted later.
  const counted =
    /^automation_(executions_total|execution_|job_(last|consecutive|average)_|project_executions_|node_failures_)/;
  return counted.test(name) || /^automation_(executions_running|executions_queued|app_value|app_threads)/.test(name);
}
