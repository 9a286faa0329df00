import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, accept, startSink } from '../tracing/deliver/sink.ts';

/** A daemon process, and a collector for its traces. */
async function setUp(env: Readonly<Record<string, string>>, answer: Answer = accept) {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.stop());
  const sink = await startSink(answer);
  onTestFinished(() => sink.stop());
  const daemon = startCli(['serve', '--state.memory', '--web.listen-address=127.0.0.1:0'], {
    env: {
      AUTOMATION_EXPORTER_NAME: 'prod',
      AUTOMATION_EXPORTER_URL: simulator.url,
      AUTOMATION_EXPORTER_TOKEN: simulator.token,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      AUTOMATION_EXPORTER_TRACES_ENABLED: 'off',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      ...env,
    },
  });
  onTestFinished(() => daemon.stop());
  const [, url = ''] = await daemon.waitFor(/msg=serving url=(\S+)/);
  return { simulator, sink, daemon, url };
}

type Sent = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status?: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
};

type Body = {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Sent, 'attributes'>;
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly Sent[] }[];
  }[];
};

function read({ requests }: { readonly requests: readonly { readonly body: Buffer }[] }) {
  // This cast is safe: the collector is asked for JSON.
  const found = requests.flatMap(({ body }) => (JSON.parse(body.toString('utf8')) as Body).resourceSpans);
  const resources = found.map(({ resource }) => toFields(resource));
  return { resources, spans: found.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)) };
}

function toFields({ attributes }: Pick<Sent, 'attributes'>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

describe('end-to-end/self-tracing', () => {
  it('creates a span for every poll and for its requests', async () => {
    const { simulator, sink } = await setUp({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_RESOURCE_ATTRIBUTES: 'site=eu' });
    const find = (name: string): Sent | undefined => read(sink).spans.find((span) => span.name === name);
    await eventually(async () => expect(find('poll execution-mode')).toBeDefined());
    const [poll, request] = [find('poll execution-mode'), find('GET execution-mode')];

    expect(poll).toMatchObject({ kind: 1 });
    expect(toFields(poll ?? { attributes: [] })).toEqual({
      'automation.server.name': 'prod',
      'automation.exporter.collector': 'execution-mode',
      'automation.exporter.result': 'success',
    });
    expect(request).toMatchObject({ kind: 3, traceId: poll?.traceId, parentSpanId: poll?.spanId });
    expect(toFields(request ?? { attributes: [] })).toEqual({
      'automation.server.name': 'prod',
      'automation.exporter.api_endpoint': 'execution-mode',
      'http.request.method': 'GET',
      'http.response.status_code': 200,
    });
    expect(read(sink).resources[0]).toMatchObject({ 'service.name': 'automation-exporter', site: 'eu' });
    const all = sink.requests.map(({ body }) => body.toString('utf8')).join('\n');
    for (const secret of [simulator.token, new URL(simulator.url).host]) expect(all).not.toContain(secret);
  });

  it('sets the kind of the error on the span of a failed request', async () => {
    const { simulator, sink } = await setUp({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SERVICE_NAME: 'watcher' });
    await simulator.stop();
    const failed = (): Sent | undefined =>
      read(sink).spans.find(({ name, status }) => name.startsWith('poll') && status?.code === 2);
    await eventually(async () => expect(failed()).toBeDefined(), { limitMs: 20_000 });

    expect(toFields(failed() ?? { attributes: [] })).toMatchObject({
      'automation.exporter.result': 'failed',
      'error.type': 'network',
    });
    expect(read(sink).resources[0]).toMatchObject({ 'service.name': 'watcher' });
  }, 25_000);

  it('creates a span for every delivery', async () => {
    const { sink } = await setUp({
      OTEL_TRACES_EXPORTER: 'otlp',
      AUTOMATION_EXPORTER_TRACES_ENABLED: 'on',
      AUTOMATION_EXPORTER_EXECUTIONS_BACKFILL: '1h',
    });
    await eventually(async () => {
      const { spans } = read(sink);
      expect(spans.find(({ name }) => name === 'send traces')).toMatchObject({ kind: 3 });
    });
  });

  it('ends soon, even if the collector never responds', async () => {
    const env = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_TIMEOUT: '60000' };
    const { sink, daemon } = await setUp(env, () => {});
    await eventually(async () => expect(sink.requests.length).toBeGreaterThan(0));
    daemon.kill('SIGTERM');

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  }, 15_000);

  it('sends the remaining spans before it ends', async () => {
    const { sink, daemon } = await setUp({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_BSP_SCHEDULE_DELAY: '600000' });
    expect(sink.requests).toEqual([]);
    daemon.kill('SIGTERM');

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(read(sink).spans.length).toBeGreaterThan(0);
  });

  it('ends without a delay if there is no collector', async () => {
    const { sink, daemon, url } = await setUp({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
    await sink.stop();
    await daemon.waitFor(/msg=OpenTelemetry/);

    expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
    daemon.kill('SIGTERM');
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  });

  it.each(['', 'none'])('creates no spans if OTEL_TRACES_EXPORTER is "%s"', async (wanted) => {
    const { sink, daemon, url } = await setUp({ OTEL_TRACES_EXPORTER: wanted });
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200));
    daemon.kill('SIGTERM');

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(sink.requests).toEqual([]);
  });
});
