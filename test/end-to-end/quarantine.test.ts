import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../commands/run-cli.ts';
import { toText } from '../http/page-text.ts';
import { eventually } from '../support/eventually.ts';
import { accept, say, startSink } from '../tracing/deliver/sink.ts';
import { watchExecutions } from './watch-executions.ts';

const secret = 'planted-where-nobody-may-see-it';

/** Starts a daemon whose collector at first rejects the traces of one of two jobs. */
async function setUp() {
  let isMended = false;
  const { simulator, jobs, sink, daemon } = await watchExecutions('web01', {
    jobs: ['settle', 'poisoned'],
    answer: (response, request, index) => {
      const isRefused = !isMended && request.body.includes('nightly/poisoned');
      // The response of the collector contains the secrets.
      const says = `attribute too\nlong, ${request.headers.authorization}`;
      (isRefused ? say(400, says) : accept)(response, request, index);
    },
    yaml: 'web: { enable_lifecycle: true }\n',
    toEnv: () => ({
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
    }),
  });
  for (const job of jobs) simulator.control.runJob(job);
  simulator.advance(3_600_000);
  await eventually(async () => {
    const metrics = await daemon.metrics();
    expect(metrics).toContain('\nautomation_exporter_traces_quarantined 1\n');
    expect(metrics).toContain('\nautomation_exporter_spool_traces 0\n');
  });
  const run = (...args: readonly string[]) => runCli(['quarantine', ...args, `--url=${daemon.url}`]);
  const listed = JSON.parse(await ask(daemon.url, '/api/quarantine')) as {
    readonly quarantined: readonly { readonly key: string; readonly spans: number }[];
  };
  const [trace = { key: '', spans: 0 }] = listed.quarantined;
  expect(listed.quarantined).toHaveLength(1);
  const rerun = (): void => {
    simulator.control.runJob(jobs[0] ?? '');
    simulator.advance(3_600_000);
  };
  return { daemon, sink, run, rerun, trace, mend: () => (isMended = true) };
}

/** Reads the status without the clock problem, because the test advances the clock of the service. */
async function readStatus(url: string) {
  // This cast is safe: only these fields are used.
  const { problems, traces } = JSON.parse(await ask(url, '/api/status')) as {
    readonly problems: readonly { readonly kind: string; readonly title: string; readonly text: string }[];
    readonly traces: { readonly waiting_count: number };
  };
  return { problems: problems.filter(({ kind }) => kind !== 'clock'), traces };
}

async function ask(url: string, path: string): Promise<string> {
  return (await fetch(`${url}${path}`)).text();
}

// Each test starts several processes, possibly on a busy machine.
describe('end-to-end/quarantine', { timeout: 60_000 }, () => {
  it('faults/row-32: delivers a quarantined trace when the backend accepts it', async () => {
    const { daemon, sink, run, trace, mend } = await setUp();
    const [, id] = trace.key.split('/');
    const { stdout } = await run('list');
    expect(stdout).toMatch(
      new RegExp(`^prod +${id} +${trace.spans} .* HTTP 400: attribute too long, (Bearer )?<secret>$`, 'm'),
    );
    expect(await readStatus(daemon.url)).toMatchObject({
      problems: [{ title: '1 trace is quarantined' }],
      traces: { enabled: true, failing: false, waiting_count: 0, quarantined_count: 1 },
    });
    expect(await ask(daemon.url, '/')).toContain('✗ 1 quarantined');
    const page = await ask(daemon.url, '/traces');
    expect(toText(page)).toMatch(/^✗The trace backend rejects 1 trace\n/);
    expect(page).toContain(`<a href="./executions/prod/${id}">`);
    expect((await fetch(`${daemon.url}/executions/prod/${id}`)).status).toBe(200);

    const told = [stdout, page, await ask(daemon.url, '/api/quarantine'), ...daemon.logged];
    expect(told.filter((text) => text.includes(secret))).toEqual([]);

    expect(await run('retry', trace.key)).toMatchObject({ code: 0, stdout: '1 trace is queued again\n' });
    // The backend rejects the trace once more.
    await eventually(async () =>
      expect(await daemon.metrics()).toContain(`rejected_total{reason="refused"} ${2 * trace.spans}\n`),
    );
    const refused = sink.requests.length;

    mend();
    expect(await run('retry', '--all')).toMatchObject({ code: 0, stdout: '1 trace is queued again\n' });
    await eventually(async () => {
      const metrics = await daemon.metrics();
      expect(metrics).toContain('\nautomation_exporter_traces_quarantined 0\n');
      expect(metrics).toContain('\nautomation_exporter_spool_traces 0\n');
      expect(metrics).toContain(`rejected_total{reason="refused"} ${2 * trace.spans}\n`);
    });
    const delivered = sink.requests.slice(refused).map(({ body }) => body.toString('utf8'));
    expect(delivered).toEqual([expect.stringContaining('RUN pay/nightly/poisoned')]);
    expect((await readStatus(daemon.url)).problems).toEqual([]);
  });

  it('counts the spans of dropped traces', async () => {
    const { daemon, sink, run, trace, mend } = await setUp();
    expect(await run('drop', trace.key)).toMatchObject({ code: 0, stdout: '1 trace is dropped\n' });
    await eventually(async () => {
      const metrics = await daemon.metrics();
      expect(metrics).toContain('\nautomation_exporter_traces_quarantined 0\n');
      expect(metrics).toContain(`rejected_total{reason="dropped"} ${trace.spans}\n`);
    });
    const before = sink.requests.length;
    mend();
    expect(await run('retry', trace.key)).toMatchObject({
      code: 1,
      stderr: `Nothing was changed because these are not quarantined: ${trace.key}\n`,
    });
    expect(await run('list')).toMatchObject({ code: 0, stdout: 'No trace is quarantined\n' });
    expect(sink.requests.length).toBe(before);
    expect(toText(await ask(daemon.url, '/traces'))).toMatch(/^✓All traces are delivered\n/);
  });

  it('keeps the quarantine across a reload that switches traces off', async () => {
    const { daemon, run, trace } = await setUp();
    await daemon.app.reload(await daemon.load('traces: { enabled: off }\nweb: { enable_lifecycle: true }\n'));
    const off = 'Traces are off: the page /traces shows how to switch them on.\n';
    expect(await run('list')).toMatchObject({ code: 2, stderr: off });
    expect(await run('drop', '--all')).toMatchObject({ code: 2, stderr: off });
    expect(await ask(daemon.url, '/traces')).toContain(
      '1 trace from an earlier run is kept until traces are on again.',
    );
    // Traces that are switched off cause no alert.
    await eventually(async () => expect(await daemon.metrics()).not.toMatch(/\nautomation_exporter_(spool|traces)_/));

    await daemon.app.reload(await daemon.load('web: { enable_lifecycle: false }\n'));
    expect((await run('list')).stdout).toContain(trace.key.split('/')[1] ?? '?');
    await eventually(async () =>
      expect(await daemon.metrics()).toContain('\nautomation_exporter_traces_quarantined 1\n'),
    );
    expect(await run('drop', '--all')).toMatchObject({
      code: 2,
      stderr: 'Off: enable it with --web.enable-lifecycle.\n',
    });
  });

  it('reports since when traces cannot be delivered', async () => {
    const { daemon, sink, rerun } = await setUp();
    await sink.stop();
    rerun();
    const failing = await eventually(async () => {
      const told = await readStatus(daemon.url);
      expect(told.problems.map(({ kind }) => kind)).toEqual(['undelivered', 'quarantined']);
      expect(told.traces.waiting_count).toBe(1);
      return told;
    });
    expect(failing.problems[0]?.text).toMatch(/^Traces cannot be delivered\. Since .*\): 127\.0\.0\.1:\d+: /);
    expect(toText(await ask(daemon.url, '/traces'))).toMatch(/^✗Traces cannot be delivered .*\nWhy: 127\.0\.0\.1/);

    const again = await startSink((response) => accept(response), { port: sink.port });
    onTestFinished(again.stop);
    await eventually(async () => expect(again.requests.length).toBe(1));
    await eventually(async () =>
      expect(await readStatus(daemon.url)).toMatchObject({
        problems: [{ kind: 'quarantined' }],
        traces: { failing: false, failing_since: null, waiting_count: 0 },
      }),
    );
  });
});
