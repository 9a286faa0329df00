import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { toText } from '../http/page-text.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { watchExecutions } from './watch-executions.ts';

/** A service in which a job ran, and a daemon that watches it. */
async function setUp(isTracing: boolean, traces = 'enabled: auto') {
  const { simulator, jobs, daemon, yaml } = await watchExecutions('web01', {
    jobs: ['settle'],
    isTracing,
    collectors: '  system-info: { enabled: true }\n',
    yaml: `traces: { link: 'https://traces.example.org/trace/{trace_id}', ${traces} }
web: { route_prefix: /here/too }
`,
  });
  simulator.control.runJob(jobs[0] ?? '');
  simulator.advance(3_600_000);
  const id = simulator.truth().executions[0]?.id ?? 0;
  await eventually(async () => expect(await readPage(`${daemon.url}/`)).toContain(`#${id}</span>`));
  return { simulator, daemon, id, yaml };
}

async function readPage(address: string): Promise<string> {
  return (await fetch(address)).text();
}

describe('end-to-end/execution-page', () => {
  it('links from the front page to the steps of an execution', async () => {
    const { simulator, daemon, id } = await setUp(true);
    const address = await eventually(async () => {
      const [link = ''] = /\.\/executions\/prod\/\d+/.exec(await readPage(`${daemon.url}/`)) ?? [];
      expect(link).toBe(`./executions/prod/${id}`);
      return new URL(link, `${daemon.url}/`).href;
    });
    await eventually(async () => expect(await readPage(address)).toContain('<h2>Steps</h2>'));
    const countAsked = (): number => simulator.requests().filter(({ path }) => path.includes(`/${id}`)).length;
    const before = countAsked();
    const page = await readPage(address);

    expect(toText(page)).toMatch(new RegExp(`^✓nightly/settle #${id}: succeeded\\nServer: `));
    // The clock of the server is months behind.
    expect(toText(page)).toMatch(/\nEnded: 2026-01-15 .* \((?:just now|\d+ (?:s|min) ago)\)\n/);
    expect(toText(page)).toMatch(
      /\nRUN pay\/nightly\/settle \| {2}\| 0 \| .* \| ✓ succeeded \(the execution succeeded\)\n/,
    );
    expect(toText(page)).toMatch(/\nweb01 1@web01 \|/);
    expect(page).toMatch(/<a href="https:\/\/traces\.example\.org\/trace\/[0-9a-f]{32}" rel="noreferrer">/);
    expect(before).toBeGreaterThan(0);
    expect(countAsked()).toBe(before);
  });

  it('shows the steps of an execution without a trace backend', async () => {
    const { daemon, id } = await setUp(false);
    const address = `${daemon.url}/executions/prod/${id}`;
    const text = await eventually(async () => {
      const page = toText(await readPage(address));
      expect(page).toContain('\nSteps\n');
      return page;
    });
    expect(text).toMatch(/\nweb01 1@web01 \|/);
    expect(text).not.toContain('Trace id');
    expect(text).not.toContain('The trace');
    expect(toText(await readPage(`${daemon.url}/traces`))).toMatch(/^…Traces are off\n/);
  });

  it('says how to store the steps of executions', async () => {
    const { daemon, id, yaml } = await setUp(false, 'enabled: off');
    expect(yaml).toContain('enabled: off');
    const page = toText(await readPage(`${daemon.url}/executions/prod/${id}`));
    expect(page).toMatch(new RegExp(`^✓nightly/settle #${id}: succeeded\\n`));
    expect(page).toContain('The steps are unknown, because traces.enabled is off.');
  });

  it('keeps the cause of a failure across restarts', async () => {
    const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
    onTestFinished(() => simulator.stop());
    simulator.control.createProject('pay', ['web01']);
    const job = simulator.control.createJob('pay', { name: 'settle', group: 'nightly' });
    const stateDirectory = makeFolder();
    const yaml = `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 100 } }]
collectors: { executions: { enabled: true, every: 1s } }
executions: { max_delay: 1s }
`;
    const start = () =>
      startDaemon({ yaml, token: simulator.token, flags: ['--collector.disable-defaults'], stateDirectory });
    const counts = /collector_success\{.*"executions"\} 1/;
    let daemon = await start();
    const stop = async (): Promise<void> => daemon.stop();
    onTestFinished(stop);
    await eventually(async () => expect(await daemon.metrics()).toMatch(counts));
    simulator.control.setConditions({ downNodes: ['web01'] });
    simulator.control.runJob(job);
    simulator.advance(3_600_000);
    const id = simulator.truth().executions[0]?.id ?? 0;
    const read = async (): Promise<string> => readPage(`${daemon.url}/executions/prod/${id}`);
    const [sentence] = await eventually(async () => {
      const found = /Step \d.* failed.*: \w+\./.exec(await read());
      expect(found).not.toBeNull();
      return found ?? [''];
    });
    for (let restarts = 0; restarts < 2; restarts += 1) {
      await daemon.stop();
      daemon = await start();
      await eventually(async () => expect(await daemon.metrics()).toMatch(counts));
      const page = await eventually(async () => {
        const found = await read();
        expect(found).toContain(sentence);
        return found;
      });
      expect(page).not.toContain('<h2>Steps</h2>');
      expect(toText(page)).toContain('\nReason: ');
      expect(page).toContain(`<a href="${simulator.url}/project/pay/execution/show/${id}"`);
      expect(await daemon.metrics()).not.toMatch(/automation_exporter_state_resets_total [1-9]/);
    }
  });

  it('keeps the page of an execution across a reload', async () => {
    const { daemon, id, yaml } = await setUp(true);
    const hasSteps = async (): Promise<boolean> =>
      (await readPage(`${daemon.url}/executions/prod/${id}`)).includes('<h2>Steps</h2>');
    await eventually(async () => expect(await hasSteps()).toBe(true));
    await daemon.app.reload(await daemon.load(yaml.replace('traces: {', 'traces: { user_names: true,')));
    expect(await hasSteps()).toBe(true);
    await daemon.app.reload(await daemon.load(yaml));
    expect(await hasSteps()).toBe(false);
  });
});
