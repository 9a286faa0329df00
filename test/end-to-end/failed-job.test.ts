import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { programs } from '../../simulator/answers/executions/program-lines.ts';
import { toSeed } from '../../simulator/random.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import type { Work } from '../../simulator/world/work.ts';
import { toText } from '../http/page-text.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { accept, startSink } from '../tracing/deliver/sink.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A step that always fails, and whose program writes what this template says. */
function failingWork(template: string): Work {
  const isOf = (text: string): boolean => programs[toSeed('pay', text) % programs.length] === template;
  const text = Array.from({ length: 5000 }, (_, at) => `run ${at}`).find(isOf) ?? '';
  const step = { kind: 'exec', text, nodeStep: true, seconds: 1, failureChance: 1 } as const;
  return { nodes: ['db03'], steps: [step], keepGoing: false, timeoutMs: undefined, references: new Map() };
}

/** What the simulated programs write as passwords and tokens. */
const secret = 'Simulated-';

async function setUp() {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'automation-exporter-failed-job-'));
  endings.push(() => rmSync(stateDirectory, { recursive: true, force: true }));
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
  endings.push(() => simulator.stop());
  simulator.control.createProject('pay', ['db03']);
  const sink = await startSink((response) => accept(response));
  endings.push(() => sink.stop());
  const daemon = await startDaemon({
    yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 100 } }]
collectors: { executions: { enabled: true, every: 1s } }
executions: { max_delay: 1s }
metrics: { hold_new_series: 0s }
`,
    token: simulator.token,
    flags: ['--collector.disable-defaults'],
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url },
    stateDirectory,
  });
  endings.push(() => daemon.stop());
  await eventually(async () => expect(await daemon.metrics()).toMatch(/collector_success\{.*"executions"\} 1/));
  return { simulator, sink, daemon, stateDirectory };
}

describe('end-to-end/failed-job', { timeout: 60_000 }, () => {
  it('explains a failure by its first cause and whether it came before, and keeps no secret of its log', async () => {
    const { simulator, sink, daemon, stateDirectory } = await setUp();
    const withSecrets = programs.filter((template) => template.includes('{secret}'));
    const jobs = withSecrets.map((template, at) =>
      simulator.control.createJob('pay', { name: `job ${at}`, group: 'nightly', work: failingWork(template) }),
    );
    const fail = async (jobId: string): Promise<number> => {
      const id = simulator.control.runJob(jobId) ?? 0;
      simulator.advance(60_000);
      return id;
    };
    const read = async (path: string): Promise<string> => (await fetch(`${daemon.url}${path}`)).text();
    const [first = '', ...others] = jobs;
    const firstId = await fail(first);
    const firstPage = await eventually(async () => {
      const page = toText(await read(`/executions/prod/${firstId}`));
      expect(page).toContain('for the first time');
      return page;
    });
    expect(firstPage).toMatch(
      /failed\npay\/nightly\/job 0 failed at .* UTC on db03: work \(NonZeroResultCode\), for the first time\.\n/,
    );
    const again = await fail(first);
    for (const job of others) await fail(job);
    await eventually(async () => expect(toText(await read(`/executions/prod/${again}`))).toContain('2nd since'));
    const metrics = await eventually(async () => {
      const text = await daemon.metrics();
      expect(text.match(/^automation_job_last_failure_info.*class="work"/gm)).toHaveLength(jobs.length);
      return text;
    });
    expect(metrics).toMatch(/automation_job_last_failure_info\{.*job_name="job 0",class="work",new="false"\} 1/);
    expect(JSON.parse(await read(`/api/why?server=prod&execution=${again}`))).toMatchObject({
      verdict: 'failed',
      failure: { class: 'work', node: 'db03', exit_code: 1, seen: 2 },
    });
    const asked = await fetch(`${simulator.url}/api/41/execution/${again}/output?lastlines=200`, {
      headers: { 'x-rundeck-auth-token': simulator.token, accept: 'application/json' },
    });
    expect(await asked.text()).toContain(secret);

    await daemon.stop();
    const places: readonly (readonly [string, string])[] = [
      ['metrics', metrics],
      ['page', firstPage],
      ['log', daemon.logged.join('\n')],
      ...sink.requests.map(({ body }, at) => [`trace ${at}`, body.toString('latin1')] as const),
      ...readdirSync(stateDirectory).map((name) => [name, readFileSync(join(stateDirectory, name), 'latin1')] as const),
    ];
    expect(places.length).toBeGreaterThan(4);
    expect(places.filter(([, text]) => text.includes(secret)).map(([place]) => place)).toEqual([]);
  });
});
