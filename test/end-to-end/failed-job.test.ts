import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { programs } from '../../simulator/answers/executions/program-lines.ts';
import { toText } from '../http/page-text.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { accept, type Sink, startSink } from '../tracing/deliver/sink.ts';
import { failingWork } from './failing-work.ts';
import { watchExecutions } from './watch-executions.ts';

/** The beginning of passwords and tokens in the output of simulated programs. */
const secret = 'Simulated-';

const simulated = { apiVersion: 47 };

const toLogs =
  ({ url }: Sink) =>
  () => ({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: url.replace('traces', 'logs') });

describe('end-to-end/failed-job', { timeout: 60_000 }, () => {
  it('explains a failure by its first cause', async () => {
    const { simulator, daemon } = await watchExecutions('db03', {
      simulated,
      yaml: "jobs: { overrides: [{ match: 'pay/nightly/job 0', owner: payments }] }\n",
    });
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
    const failure = { class: 'work', node: 'db03', exit_code: 1, seen: 2 };
    const told = { owner: 'payments', failure };
    expect(JSON.parse(await read(`/api/why?server=prod&execution=${again}`))).toMatchObject({
      verdict: 'failed',
      ...told,
    });
    expect(JSON.parse(await read('/api/why?server=prod&job=pay/nightly/job%200'))).toMatchObject(told);
    expect(toText(await read('/jobs/prod/pay/nightly/job%200'))).toContain('payments');
  });

  it('lists on the trace what changed before the failure', async () => {
    const logs = await startSink((response) => accept(response));
    onTestFinished(() => logs.stop());
    const { simulator, sink, daemon } = await watchExecutions('db03', {
      simulated,
      collectors: ['projects', 'schedule', 'changes', 'system-info']
        .map((name) => `  ${name}: { enabled: true, every: 1s }\n`)
        .join(''),
      yaml: 'diagnosis: { events: true }\n',
      toEnv: toLogs(logs),
    });
    const working = { ...failingWork(programs[0] ?? ''), steps: [] };
    const job = simulator.control.createJob('pay', { name: 'settle', group: 'nightly', work: working });
    const isRead = (what: string) =>
      eventually(async () =>
        expect(simulator.requests().filter(({ path }) => path.includes(what)).length).toBeGreaterThan(0),
      );
    await isRead('/system/info');
    await isRead(`/job/${job}`);
    simulator.control.runJob(job);
    simulator.advance(60_000);
    await eventually(async () => expect(sink.requests).toHaveLength(1));
    simulator.control.changeJob(job, { work: failingWork(programs[0] ?? '') });
    const id = simulator.control.runJob(job);
    simulator.advance(60_000);
    await eventually(async () => expect(sink.requests).toHaveLength(2));
    const [root] = readSpans([sink.requests[1]?.body.toString('utf8') ?? '']);
    const suspects = root?.attributes.find(({ key }) => key === 'automation.failure.suspects')?.value.arrayValue
      ?.values;
    expect(suspects?.[0]?.stringValue).toMatch(
      /^definition pay\/nightly\/settle: steps.* changed.*, between 20.*Z and 20.*Z \(job, fits\)$/,
    );
    const event = await eventually(async () => {
      const sent = logs.requests.map(({ body }) => readRecords(body.toString('utf8')));
      const found = sent.flatMap(({ records }) => records).find(({ body }) => body.stringValue.includes('steps'));
      expect(found).toBeDefined();
      return found;
    });
    expect(event).toMatchObject({
      eventName: 'automation.change',
      body: { stringValue: 'definition pay/nightly/settle: steps changed' },
    });
    expect(toValues(event?.attributes)).toMatchObject({ 'automation.change.kind': 'definition' });
    const page = toText(await (await fetch(`${daemon.url}/executions/prod/${id}`)).text());
    expect(page).toContain('definition pay/nightly/settle: steps');
  });

  it('sends the last lines of the failed step as log records', async () => {
    const logs = await startSink((response, _request, index) => {
      if (index >= 3) accept(response);
      else if (index === 0) response.destroy();
      else response.writeHead(503, { 'retry-after': '0' }).end();
    });
    onTestFinished(() => logs.stop());
    const stateDirectory = makeFolder();
    const { simulator, sink, daemon } = await watchExecutions('db03', {
      simulated,
      yaml: `diagnosis: { overrides: [{ match: pay, logs: lines }, { match: .*, logs: none }], redact: ['.*redacted-by-site.*'] }\n`,
      toEnv: toLogs(logs),
      stateDirectory,
    });
    const [template = ''] = programs.filter((one) => one.includes('DB_PASSWORD={secret}'));
    const job = simulator.control.createJob('pay', { name: 'settle', group: 'nightly', work: failingWork(template) });
    const id = simulator.control.runJob(job) ?? 0;
    simulator.advance(60_000);
    const metrics = await eventually(async () => {
      const text = await daemon.metrics();
      expect(text).toMatch(/automation_exporter_log_lines_total\{result="sent"\} [1-9]/);
      expect(text).toContain('\nautomation_exporter_spool_traces 0\n');
      return text;
    });
    expect(metrics).toContain('automation_exporter_log_redactions_total{server="prod"} 1');
    // Traces did not wait for log records.
    expect(sink.requests).toHaveLength(1);
    const bodies = logs.requests.map(({ body }) => body.toString('utf8'));
    expect(bodies).toHaveLength(4);
    expect(new Set(bodies).size).toBe(1);

    const { resource, records } = readRecords(bodies[0] ?? '');
    const { traceId, spanId } = findStep(sink.requests.map(({ body }) => body.toString('utf8')));
    expect(resource).toEqual({ 'service.name': 'automation-service', 'service.namespace': 'pay' });
    expect(new Set(records.map((record) => `${record.traceId} ${record.spanId}`))).toEqual(
      new Set([`${traceId} ${spanId}`]),
    );
    expect(records.map(({ body, severityText }) => `${severityText} ${body.stringValue}`)).toEqual([
      expect.stringMatching(/^NORMAL run \d+: begins on db03$/),
      'WARN + export DB_PASSWORD=[removed]',
      expect.stringMatching(/^WARN \+ \.\/run-/),
      expect.stringMatching(/^WARN run-.*: exit \d+$/),
      expect.stringMatching(/^ERROR Failed: /),
    ]);
    expect(records.map(({ uid }) => uid)).toEqual([1, 2, 3, 4, 5].map((line) => `${traceId}-${line}`));
    expect(records.every(({ timeUnixNano }) => Number(timeUnixNano) > 0)).toBe(true);

    const page = await (await fetch(`${daemon.url}/executions/prod/${id}`)).text();
    expect(page).toContain('+ export DB_PASSWORD=[removed]');
    await daemon.stop();
    const kept = readdirSync(stateDirectory).map((name) => readFileSync(join(stateDirectory, name), 'latin1'));
    expect([page, metrics, ...bodies, ...kept, daemon.logged.join('')].filter((text) => text.includes(secret))).toEqual(
      [],
    );
  });
});

type SentRecord = {
  readonly traceId: string;
  readonly spanId: string;
  readonly timeUnixNano: string;
  readonly severityText: string;
  readonly eventName?: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: readonly SentAttribute[];
};
type SentAttribute = {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly arrayValue?: { readonly values: readonly { readonly stringValue: string }[] };
  };
};

/** Reads the log records and the resource of a request. */
function readRecords(body: string) {
  const { resourceLogs } = JSON.parse(body) as {
    resourceLogs: { resource: { attributes: SentAttribute[] }; scopeLogs: { logRecords: SentRecord[] }[] }[];
  };
  const [only] = resourceLogs;
  expect(resourceLogs).toHaveLength(1);
  const records = only?.scopeLogs.flatMap(({ logRecords }) => logRecords) ?? [];
  return {
    resource: toValues(only?.resource.attributes),
    records: records.map((record) => ({ ...record, uid: toValues(record.attributes)['log.record.uid'] })),
  };
}

function toValues(attributes: readonly SentAttribute[] = []) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
}

type SentSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: readonly SentAttribute[];
};

function readSpans(bodies: readonly string[]): readonly SentSpan[] {
  return bodies.flatMap((body) => {
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  });
}

function findStep(bodies: readonly string[]): { readonly traceId?: string; readonly spanId?: string } {
  return readSpans(bodies).find(({ name }) => name === 'db03') ?? {};
}
