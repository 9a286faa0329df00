import { describe, expect, it, onTestFinished } from 'vitest';
import { type Control, type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { seriesWith, toSeries } from './scraped.ts';

const token = 'a-token-whose-rights-change';
type Policy = NonNullable<Parameters<Control['addToken']>[0]['policy']>;

type Watching = {
  readonly simulator: Simulator;
  readonly daemon: Daemon;
  readonly series: () => Promise<ReadonlyMap<string, number>>;
  readonly forward: (ms: number) => void;
  readonly asked: (path: string) => number;
};

/** Two projects with one job each, watched with a token of this policy. */
async function watch(policy: Policy): Promise<Watching> {
  const simulator = await startSimulator({ scenario: 'empty', apiVersion: 47 });
  onTestFinished(() => simulator.stop());
  for (const project of ['pay', 'hr']) {
    simulator.control.createProject(project, ['web01']);
    simulator.control.createJob(project, { name: 'settle', group: 'nightly' }, `job-of-${project}`);
    simulator.control.runJob(`job-of-${project}`);
  }
  simulator.control.addToken({ token, policy });
  let aheadMs = 0;
  const server = `{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 500 } }`;
  const often = ['system-info', 'execution-mode', 'log-storage', 'projects', 'job-info', 'executions'].map(
    (name) => `  ${name}: { every: 1s }\n`,
  );
  const daemon = await startDaemon({
    yaml: `servers: [${server}]\ncollectors:\n${often.join('')}`,
    token,
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
    asked: (path) => simulator.requests().filter((request) => request.path === path).length,
  };
}

const enabled = (collector: string, reason: string): string =>
  `automation_exporter_collector_enabled{server="prod",collector="${collector}",reason="${reason}"}`;

/** The families with series of a project. */
function familiesOf(all: ReadonlyMap<string, number>, project: string): string[] {
  const names = seriesWith(all, `project="${project}"`).map((name) => name.slice(0, name.indexOf('{')));
  return [...new Set(names)].filter((name) => !name.startsWith('automation_app_')).toSorted();
}

const ofProject = `
automation_execution_duration_seconds_bucket
automation_execution_duration_seconds_count
automation_execution_duration_seconds_sum
automation_execution_nodes_total
automation_executions_queued
automation_executions_running
automation_executions_running_overdue
automation_executions_total
automation_job_average_duration_seconds
automation_job_consecutive_failures
automation_job_info
automation_job_last_duration_seconds
automation_job_last_end_timestamp_seconds
automation_job_last_execution_id
automation_job_last_start_timestamp_seconds
automation_job_last_status
automation_job_last_success_timestamp_seconds
automation_project_execution_mode
automation_project_executions_total
automation_project_info
automation_project_jobs
automation_project_nodes
`;

const counted = `
automation_execution_duration_seconds_bucket
automation_execution_duration_seconds_count
automation_execution_duration_seconds_sum
automation_execution_nodes_total
automation_executions_total
automation_job_average_duration_seconds
automation_job_consecutive_failures
automation_job_last_duration_seconds
automation_job_last_end_timestamp_seconds
automation_job_last_execution_id
automation_job_last_start_timestamp_seconds
automation_job_last_status
automation_job_last_success_timestamp_seconds
automation_project_executions_total
`;

function namesOf(text: string): string[] {
  return text.trim().split('\n');
}

/** Waits until both projects have all their series. */
async function settled({ series }: Watching): Promise<void> {
  await eventually(async () => {
    const all = await series();
    for (const project of ['pay', 'hr']) expect(familiesOf(all, project)).toEqual(namesOf(ofProject));
  });
}

describe('end-to-end/permissions', () => {
  it('reports denied requests and how to allow them', async () => {
    const { simulator, daemon, series, forward, asked } = await watch({ systemRead: false });
    const path = '/api/47/system/logstorage';

    await eventually(async () => {
      const all = await series();
      expect(all.get(enabled('log-storage', 'denied'))).toBe(0);
      expect(seriesWith(all, 'automation_log_storage_')).toEqual([]);
      expect(seriesWith(all, 'collector_success{', 'collector="log-storage"')).toEqual([]);
      expect(all.get('automation_up{server="prod"}')).toBe(1);
    });
    const status = (await (await fetch(`${daemon.url}/api/status`)).json()) as Status;
    expect(status.servers[0]?.missing_policy).toContain('resource:');
    expect(await (await fetch(`${daemon.url}/`)).text()).toContain('kind: system');

    // Denied requests are rare.
    const polls = asked('/api/47/system/info');
    await eventually(async () => {
      await series();
      expect(asked('/api/47/system/info')).toBeGreaterThan(polls + 2);
    });
    expect(asked(path)).toBe(1);

    simulator.control.addToken({ token, policy: { systemRead: true } });
    forward(300_000);
    await eventually(async () => {
      const all = await series();
      expect(all.get(enabled('log-storage', ''))).toBe(1);
      expect(all.has(enabled('log-storage', 'denied'))).toBe(false);
      expect(seriesWith(all, 'automation_log_storage_enabled{').length).toBe(1);
    });
  });

  it('keeps only the counters of a project that cannot be read', async () => {
    const watching = await watch({});
    await settled(watching);

    watching.simulator.control.addToken({ token, policy: { projects: ['pay'], events: ['pay'], nodes: ['pay'] } });
    // The cached list of projects is now older than the collector `executions` accepts.
    watching.forward(61_000);
    // A hidden project may return, so its counters stay.
    const left = { pay: namesOf(ofProject), hr: namesOf(counted) };
    await eventually(async () => expect(await leftOf(watching)).toEqual(left));
  });

  it('shows nothing of a deleted project', async () => {
    const watching = await watch({});
    await settled(watching);

    watching.simulator.control.deleteProject('hr');
    watching.forward(61_000);
    await eventually(async () => expect(await leftOf(watching)).toEqual({ pay: namesOf(ofProject), hr: [] }));
  });

  it('shows a job only under its new name', async () => {
    const { simulator, series } = await watch({});
    const jobs = async (): Promise<string[]> =>
      seriesWith(await series(), 'automation_job_info{').map(
        (name) => /project="(\w+)".*job_name="(\w+)"/.exec(name)?.slice(1).join(' ') ?? '',
      );
    await eventually(async () => expect(await jobs()).toEqual(['hr settle', 'pay settle']));

    simulator.control.changeJob('job-of-hr', { name: 'reconcile' });
    await eventually(async () => expect(await jobs()).toEqual(['hr reconcile', 'pay settle']));
  });
});

/** The remaining families of each project. */
async function leftOf({ series }: Watching): Promise<Readonly<Record<'pay' | 'hr', string[]>>> {
  const all = await series();
  expect(all.get('automation_projects{server="prod"}')).toBe(1);
  return { pay: familiesOf(all, 'pay'), hr: familiesOf(all, 'hr') };
}

type Status = { readonly servers: readonly { readonly missing_policy: string | null }[] };
