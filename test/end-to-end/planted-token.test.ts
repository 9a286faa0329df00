import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { toSecretForms } from '../../src/domain/secret.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeMemoryFolder } from '../support/memory-folder.ts';
import { accept, startSink } from '../tracing/deliver/sink.ts';

const patience = { limitMs: 60_000 };

describe('end-to-end/planted-token', { timeout: 180_000 }, () => {
  it('never shows a token that the server repeats in its responses', async () => {
    const directory = makeMemoryFolder('automation-exporter-planted-');
    onTestFinished(async () => rmSync(directory, { recursive: true, force: true }));
    const simulator = await startSimulator({ scenario: 'empty' });
    onTestFinished(() => simulator.stop());
    const sink = await startSink(accept);
    onTestFinished(() => sink.stop());
    const { token, control } = simulator;
    const node = `node ${token}`;
    control.createProject('pay', [node, 'web01']);
    control.createProject(`project ${token}`);
    control.setProjectConfig('pay', 'project.label', `Payments ${token}`);
    control.setProjectConfig('pay', 'project.description', token);
    const steps = [command(`echo ${token}`, 0.1, 0), command(`fail ${token}`, 0.1, 1)];
    const definition = { name: `settle ${token}`, group: `nightly/${token}`, work: work([node, 'web01'], steps) };
    const jobs = [control.createJob('pay', definition), control.createJob('pay', { ...definition, name: token })];

    const every = collectors.flatMap(({ name }) => [`--collector.${name}`, `--collector.${name}.every=1s`]);
    const child = startCli(
      [
        'serve',
        ...every,
        '--metrics.hold-new-series=0s',
        '--web.listen-address=127.0.0.1:0',
        `--state.dir=${directory}`,
      ],
      {
        env: {
          AUTOMATION_EXPORTER_URL: simulator.url,
          AUTOMATION_EXPORTER_TOKEN: token,
          OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url,
          OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        },
      },
    );
    onTestFinished(child.stop);
    const [, url = ''] = await child.waitFor(/msg=serving url=(\S+)/, patience.limitMs);
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), patience);
    const run = control.runJob(jobs[0] ?? '', { user: `someone ${token}`, options: { region: token } });
    control.runJob(jobs[1] ?? '', { user: token, options: { [token]: 'x' } });
    await eventually(async () => {
      expect(sink.requests.flatMap(({ body }) => body.toString().match(/"traceId"/g) ?? []).length).toBeGreaterThan(2);
      expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
        /automation_executions_total\{.*settle.*"failed"\} 1/,
      );
    }, patience);

    const paths = [
      '/',
      '/traces',
      '/config',
      '/api/status',
      '/api/quarantine',
      '/metrics',
      `/executions/default/${run}`,
    ];
    const shown = new Map<string, string>();
    for (const path of paths) shown.set(path, await (await fetch(`${url}${path}`)).text());
    const openMetrics = await fetch(`${url}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
    shown.set('OpenMetrics', await openMetrics.text());
    await child.stop();
    for (const [index, { body }] of sink.requests.entries()) shown.set(`spans ${index}`, body.toString());
    for (const file of readdirSync(directory)) shown.set(file, readFileSync(join(directory, file), 'latin1'));
    shown.set('log', child.output());

    const forms = [...toSecretForms(token)];
    const places = [...shown].filter(([, text]) => forms.some((form) => text.includes(form))).map(([place]) => place);
    expect(places).toEqual([]);
    // Metrics contained the token before it was replaced.
    expect(shown.get('/metrics')).toContain('settle <secret>');
    expect([...shown.keys()]).toEqual(expect.arrayContaining(['state.sqlite', 'spans 0', 'log']));
  });
});
