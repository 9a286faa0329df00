import { expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { startBrowser } from '../support/browser.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { describeWithTools } from '../support/tools.ts';

const token = 'a-token-that-sees-half';

/** Plays 100 runs of the warehouse, 14 of the shop, and some of the readable project. */
function play({ control }: Simulator): void {
  const endedAtMs = Date.now() - 60_000;
  for (const [project, runs] of Object.entries({ pay: 5, warehouse: 100, 'web-shop': 14 })) {
    const jobId = control.createJob(project, { name: 'count', group: 'nightly' });
    for (let run = 0; run < runs; run += 1) {
      const ofJob = run % 3 === 0 ? {} : { jobId };
      control.addFinished(project, { ...ofJob, startedAtMs: endedAtMs - 1000, endedAtMs });
    }
  }
}

describeWithTools('end-to-end/half-blind', ['chromium'], ({ chromium }) => {
  it('reports hidden executions first, with the missing policy', async () => {
    const simulator = await startSimulator({ scenario: 'empty' });
    onTestFinished(() => simulator.stop());
    for (const project of ['pay', 'warehouse', 'web-shop']) simulator.control.createProject(project, ['web01']);
    const seen = ['pay'];
    simulator.control.addToken({ token, policy: { events: seen, jobs: seen, adhoc: seen } });
    play(simulator);
    let aheadMs = 0;
    const daemon = await startDaemon({
      yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 500 } }]
collectors: { executions: { every: 1s }, users: { enabled: false } }
executions: { backfill: 1h, max_delay: 1m }
metrics: { hold_new_series: 0s }
`,
      token,
      clock: fakeClock({ now: Date.now, ticks: () => performance.now() + aheadMs }),
    });
    onTestFinished(() => daemon.stop());
    const browser = await startBrowser(chromium);
    onTestFinished(() => browser.stop());
    const read = async (): Promise<string> => (await browser.open(`${daemon.url}/`, { width: 390 })).text;

    await eventually(async () => expect(await running(daemon)).toEqual(['warehouse', 'web-shop']));
    const page = await read();
    expect(page).toMatch(/✗\s*"prod" does not show all executions\n/);
    expect(page).toContain(
      'History of warehouse, web-shop: 114 counted, 0 readable; running executions of warehouse, web-shop: not readable.',
    );
    expect(page).toContain('Runs now: nothing, not readable in 2 projects');

    const policy = /^description: what [^]*^ {2}group: automation-exporter$/m.exec(page)?.[0] ?? '';
    simulator.control.addAccessRules(token, policy);
    aheadMs += 300_000;
    await eventually(async () => expect(await running(daemon)).toEqual([]));
    await eventually(async () => expect(await problems(daemon)).toEqual([]));
    expect(await read()).not.toContain('does not show all executions');
    await eventually(async () => expect(await counted(daemon)).toEqual({ pay: 5, warehouse: 100, 'web-shop': 14 }));

    // The policy hides runs again: the page reports them before an alert fires.
    simulator.control.addToken({ token, policy: { jobs: seen, adhoc: seen } });
    const endedAtMs = Date.now();
    simulator.control.addFinished('warehouse', { startedAtMs: endedAtMs - 1000, endedAtMs });
    await eventually(async () =>
      expect(await problems(daemon)).toEqual([
        expect.stringMatching(/^unreadable: "prod" does not show all executions\. History of .*warehouse.*readable/),
      ]),
    );
    const why = await fetch(`${daemon.url}/api/why?server=prod&job=warehouse/nightly/count`);
    expect(await why.text()).toMatch(
      /"sentence":"\\"prod\\" does not show all executions: history of warehouse: .*readable.*\. No schedule of this job is watched\. The job last ran /,
    );
  }, 120_000);
});

/** The problems of `/api/status` without the clock problem that the test causes. */
async function problems({ url }: Daemon): Promise<readonly string[]> {
  const status = (await (await fetch(`${url}/api/status`)).json()) as {
    readonly problems: readonly { readonly kind: string; readonly text: string }[];
  };
  return status.problems.flatMap(({ kind, text }) => (kind === 'clock' ? [] : [`${kind}: ${text}`]));
}

/** The projects whose running executions cannot be read. */
async function running({ url }: Daemon): Promise<readonly string[] | undefined> {
  const { servers } = (await (await fetch(`${url}/api/status`)).json()) as {
    readonly servers: readonly { readonly executions: { readonly running_denied: readonly string[] } | null }[];
  };
  return servers[0]?.executions?.running_denied.toSorted();
}

async function counted({ metrics }: Daemon): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  const family = /^automation_executions_total\{.*project="(.*?)".*\} (\d+)$/gm;
  for (const [, project = '', value] of (await metrics()).matchAll(family)) {
    sums[project] = (sums[project] ?? 0) + Number(value);
  }
  return sums;
}
