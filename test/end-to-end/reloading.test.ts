import { describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { scrapeDuring, seriesWith, toSeries } from './scraped.ts';

const token = 'a-token-of-many-servers';
const projects = Array.from({ length: 20 }, (_, index) => `team-${String(index + 1).padStart(2, '0')}`);

/** A service with twenty projects of one job each. */
async function startService(): Promise<Simulator> {
  const simulator = await startSimulator({ scenario: 'empty', apiVersion: 47, token });
  onTestFinished(() => simulator.stop());
  for (const project of projects) {
    simulator.control.createProject(project, ['web01']);
    simulator.control.createJob(project, { name: 'settle', group: 'nightly' }, `job-of-${project}`);
  }
  return simulator;
}

const often = ['system-info', 'execution-mode', 'healthcheck', 'ping', 'log-storage', 'app-metrics', 'executions'];

type Settings = {
  readonly servers: Readonly<Record<string, Simulator>>;
  readonly labels?: string;
  readonly every?: string;
  readonly collectors?: Readonly<Record<string, string>>;
  readonly members?: string;
};

function toYaml({ servers, labels = '', members = '', every = '1s', collectors = {} }: Settings): string {
  const lines = Object.entries(servers).map(
    ([name, { url }]) =>
      `  - { name: ${name}, url: '${url}', token_file: TOKEN, labels: {${labels}}, budget: { requests_per_second: 500 }${members} }`,
  );
  const settings = { ...Object.fromEntries(often.map((name) => [name, `{ every: ${every} }`])), ...collectors };
  return `servers:\n${lines.join('\n')}\ncollectors:\n${Object.entries(settings)
    .map(([name, setting]) => `  ${name}: ${setting}`)
    .join('\n')}\n`;
}

type Watching = {
  readonly daemon: Daemon;
  readonly series: () => Promise<ReadonlyMap<string, number>>;
  readonly forward: (ms: number) => void;
  readonly reload: (settings: Settings) => Promise<void>;
};

async function watch(settings: Settings): Promise<Watching> {
  let aheadMs = 0;
  const clock = fakeClock({ now: Date.now, ticks: () => performance.now() + aheadMs });
  const daemon = await startDaemon({ yaml: toYaml(settings), token, clock });
  onTestFinished(daemon.stop);
  return {
    daemon,
    series: async () => toSeries(await daemon.metrics()),
    forward: (ms) => {
      aheadMs += ms;
    },
    reload: async (changed) => daemon.app.reload(await daemon.load(toYaml(changed))),
  };
}

/** Waits until every collector has all its series of a server. */
async function settled({ series }: Watching, server: string): Promise<void> {
  await eventually(async () => {
    const all = await series();
    const of = `server="${server}"`;
    for (const family of ['automation_project_nodes', 'automation_job_info', 'automation_project_jobs'])
      expect({ family, series: seriesWith(all, `${family}{`, of).length }).toEqual({ family, series: 20 });
    for (const family of ['automation_executions_recent', 'automation_tokens', 'automation_projects'])
      expect(seriesWith(all, `${family}{`, of)).not.toEqual([]);
  });
}

const runs = (server: string) =>
  `automation_executions_total{server="${server}",project="team-01",job_group="nightly",job_name="settle",status="succeeded"}`;

const isOff = (server: string, collector: string) =>
  `automation_exporter_collector_enabled{server="${server}",collector="${collector}",reason="config",site="eu"}`;

describe('end-to-end/reloading', () => {
  it('removes only the series of deleted things', async () => {
    const [stays, goes, comes] = [await startService(), await startService(), await startService()];
    const watching = await watch({ servers: { stays, goes } });
    await settled(watching, 'stays');
    await settled(watching, 'goes');
    stays.control.runJob('job-of-team-01');
    // New counters stay at 0 for a while.
    await eventually(async () => expect((await watching.series()).get(runs('stays'))).toBe(0));
    watching.forward(61_000);
    await eventually(async () => expect((await watching.series()).get(runs('stays'))).toBe(1));
    await settled(watching, 'stays');
    const before = await watching.series();
    expect(seriesWith(before, 'server="goes"', 'project=').length).toBeGreaterThan(60);

    const after: Settings = {
      servers: { stays, comes },
      labels: ' site: eu ',
      every: '2s',
      collectors: { ping: '{ enabled: false }' },
    };
    const reloaded = watching.reload(after);
    const during = scrapeDuring(
      () => watching.daemon.metrics(),
      reloaded.then(() => settled(watching, 'comes')).then(() => pass(stays)),
    );
    await reloaded;
    const atOnce = await watching.series();
    expect(seriesWith(atOnce, 'automation_ping_duration_seconds')).toEqual([]);
    expect(seriesWith(atOnce, 'server="goes"').filter((name) => !isOwn(name))).toEqual([]);
    const scrapes = (await during).map(toSeries);
    // The daemon's own metrics are updated at most once a second.
    await eventually(async () => {
      const all = await watching.series();
      expect(seriesWith(all, 'server="goes"')).toEqual([]);
      expect(seriesWith(all, 'collector="ping"', 'reason=""')).toEqual([]);
      expect(seriesWith(all, 'server="stays"').filter((name) => !name.includes('site="eu"'))).toEqual([]);
      expect(all.get(isOff('stays', 'ping'))).toBe(0);
    });

    const wanted = seriesWith(before, 'server="stays"').filter((name) => !name.includes('ping'));
    for (const each of scrapes) {
      const found = new Map([...each].map(([name, value]) => [name.replace(/,site="eu"/, ''), value]));
      expect(wanted.filter((name) => !found.has(name))).toEqual([]);
      expect(wanted.filter((name) => isCounter(name) && (found.get(name) ?? 0) < (before.get(name) ?? 0))).toEqual([]);
    }
  });

  it('publishes only one average of a job, whichever collector reads it', async () => {
    const simulator = await startService();
    for (const project of projects) simulator.control.runJob(`job-of-${project}`);
    const servers = { prod: simulator };
    const withExecutions = { executions: '{ every: 1s, enabled: true }', 'job-info': '{ enabled: true }' };
    const without = { ...withExecutions, executions: '{ every: 1s, enabled: false }' };
    const watching = await watch({ servers, collectors: withExecutions });
    const averages = async () => seriesWith(await watching.series(), 'automation_job_average_duration_seconds{').length;
    await eventually(async () => expect(await averages()).toBe(20));

    await watching.reload({ servers, collectors: without });
    await eventually(async () => expect(await averages()).toBe(20));

    // Values stay visible during failed reads. `series` throws if there is a duplicate series.
    simulator.control.addFault({ kind: 'hang', path: '/jobs$' });
    const work = async (): Promise<void> => {
      await watching.reload({ servers, collectors: withExecutions });
      // A request that hangs takes ten seconds.
      await eventually(
        async () => expect(seriesWith(await watching.series(), 'automation_executions_running{').length).toBe(20),
        { limitMs: 40_000 },
      );
    };
    for (const text of await scrapeDuring(() => watching.daemon.metrics(), work())) toSeries(text);
    expect(await averages()).toBe(20);
    expect(seriesWith(await watching.series(), 'automation_job_info{').length).toBe(20);
  }, 90_000);

  it('publishes only the current state of a collector', async () => {
    const simulator = await startService();
    simulator.control.addToken({ token, policy: { systemRead: false } });
    const servers = { prod: simulator };
    const watching = await watch({
      servers,
      collectors: { 'log-storage': '{ every: 1s }', ping: '{ enabled: false }' },
    });
    const told = async (collector: string) =>
      seriesWith(await watching.series(), 'collector_enabled', `collector="${collector}"`).map(toReason);
    await eventually(async () => {
      expect(await told('log-storage')).toEqual(['denied']);
      expect(await told('ping')).toEqual(['config']);
    });

    simulator.control.addToken({ token, policy: { systemRead: true } });
    await watching.reload({ servers });
    await eventually(async () => {
      expect(await told('log-storage')).toEqual(['']);
      expect(await told('ping')).toEqual(['']);
    });
  });

  it('removes the series of a member that is no longer watched', async () => {
    const cluster = await startSimulator({ scenario: 'cluster-takeover', token, memberAddresses: true });
    onTestFinished(() => cluster.stop());
    const [first, second] = cluster.memberUrls;
    const both = `, members: [{ name: a, url: '${first}' }, { name: b, url: '${second}' }]`;
    const one = `, members: [{ name: a, url: '${first}' }]`;
    const servers = { prod: cluster };
    const watching = await watch({ servers, members: both });
    const of = async (member: string) => seriesWith(await watching.series(), `member="${member}"`).length;
    await eventually(async () => {
      expect(await of('a')).toBeGreaterThan(60);
      expect(await of('b')).toBeGreaterThan(60);
    });

    await watching.reload({ servers, members: one });
    await eventually(async () => expect(await of('b')).toBe(0));
    expect(await of('a')).toBeGreaterThan(60);
  });
});

function toReason(series: string): string {
  return /reason="(\w*)"/.exec(series)?.[1] ?? 'none';
}

/** Waits until the nodes of every project have been requested once more. */
async function pass(simulator: Simulator): Promise<void> {
  await eventually(async () => {
    const asked = simulator.requests().filter(({ path }) => path.endsWith('/team-20/resources'));
    expect(asked.length).toBeGreaterThan(1);
  });
}

function isOwn(name: string): boolean {
  return name.startsWith('automation_exporter_') || /^automation_(up|credentials_accepted)\{/.test(name);
}

function isCounter(name: string): boolean {
  return /_(total|count|bucket|sum)\{/.test(name);
}
