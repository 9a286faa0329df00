import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../simulator/simulator.ts';
import { ask, startEmpty } from '../caller.ts';
import { encode, planned, startMs, traceId } from './some-spans.ts';

const hostile = '<script>alert(1)</script>"\'&';
const root = planned({
  id: '00000000000000aa',
  parentId: undefined,
  name: `RUN pay/${hostile}`,
  isError: true,
  attributes: { 'cicd.pipeline.result': 'timeout', [hostile]: hostile },
  links: [{ traceId: 'ff'.repeat(16), spanId: 'ee'.repeat(8), attributes: { 'automation.link': 'retried_by' } }],
});
const step = planned({ id: '00000000000000bb', parentId: root.id, name: 'Build', startMs: startMs + 500 });
const resource = { 'automation.server.name': 'demo', 'cicd.pipeline.run.id': '4711' };

type Sent = { readonly type?: string; readonly encoding?: string };

async function post(simulator: Simulator, body: Buffer, { type = 'application/x-protobuf', encoding }: Sent = {}) {
  const response = await fetch(`${simulator.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': type, ...(encoding === undefined ? {} : { 'content-encoding': encoding }) },
    body: new Uint8Array(body),
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

describe('simulator/traces/trace-sink', () => {
  it('takes a compressed request, lists the trace and shows its spans', async () => {
    const simulator = await startEmpty({
      executionPage: (server, id) => `http://exporter.example.org/${server}/${id}`,
    });
    const none = await ask(simulator, 'simulator/traces');
    const posted = await post(simulator, gzipSync(encode([root, step], { resource })), { encoding: 'gzip' });
    const list = await ask(simulator, 'simulator/traces');
    const trace = await ask(simulator, `simulator/traces/${traceId}`);
    const asked = simulator.requests();
    await simulator.stop();

    expect(none.text).toContain('None has come yet.');
    expect(posted).toEqual({ status: 200, type: 'application/x-protobuf', text: '' });
    expect(list.text).toContain(
      `<a href="/simulator/traces/${traceId}">RUN pay/&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;</a> <span class="dim">#4711</span></th><td>2026-01-15 12:00:00 UTC</td><td class="count">1.0 s</td><td class="count">2 spans</td><td class="ill">✗ timeout</td>`,
    );
    expect(trace.text).toContain('<a href="http://exporter.example.org/demo/4711">');
    expect(trace.text).toContain(
      'style="--depth:1">· Build</span><span class="track"><i style="--from:50.00%;--for:50.00%">',
    );
    expect(trace.text).toContain(`<dt>linked retried_by</dt><dd><a href="/simulator/traces/${'ff'.repeat(16)}">`);
    expect(list.text + trace.text).not.toContain('<script');
    expect(trace.headers.get('content-security-policy')).toContain("default-src 'none'");
    // It is not a part of the service that is watched.
    expect(asked).toEqual([]);
  });

  it('lists the last 200 and shows all that are kept', async () => {
    const simulator = await startEmpty();
    const toId = (place: number): string => String(place).padStart(32, '0');
    const all = Array.from({ length: 1001 }, (_, place) =>
      encode([{ ...root, startMs: startMs + place * 1000, endMs: startMs + place * 1000 }], { id: toId(place + 1) }),
    );
    await post(simulator, Buffer.concat(all));
    const list = await ask(simulator, 'simulator/traces');
    const statuses = [1, 2, 1001].map(
      async (place) => (await ask(simulator, `simulator/traces/${toId(place)}`)).status,
    );
    const found = await Promise.all(statuses);
    await simulator.stop();
    expect(list.text).toContain('Shown are 200 of 1000.');
    expect(list.text.match(/<tr><th scope="row">/g)).toHaveLength(200);
    expect(list.text).toContain(toId(1001));
    expect(found).toEqual([404, 200, 200]);
  });

  it('leads nowhere where nothing watches', async () => {
    const simulator = await startEmpty();
    await post(simulator, encode([root], { resource }));
    const trace = await ask(simulator, `simulator/traces/${traceId}`);
    await simulator.stop();
    expect(trace.status).toBe(200);
    expect(trace.text).not.toContain('in the exporter');
  });

  it('says of a trace that is not here that it may come', async () => {
    const simulator = await startEmpty();
    const { status, text } = await ask(simulator, `simulator/traces/${traceId}`);
    await simulator.stop();
    expect(status).toBe(404);
    expect(text).toContain('It may still be on its way');
  });

  it('refuses what it cannot read in a way that nobody tries again', async () => {
    const simulator = await startEmpty();
    const answers = [
      await post(simulator, Buffer.from('{}'), { type: 'application/json' }),
      await post(simulator, encode([root]).subarray(0, -3)),
      await post(simulator, Buffer.from('no gzip'), { encoding: 'gzip' }),
      await post(simulator, gzipSync(Buffer.alloc(9 * 2 ** 20)), { encoding: 'gzip' }),
    ];
    const list = await ask(simulator, 'simulator/traces');
    await simulator.stop();
    expect(answers.map(({ status }) => status)).toEqual([415, 400, 400, 413]);
    expect(answers[0]?.text).toContain('OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf');
    expect(list.text).toContain('None has come yet.');
  });

  it('leaves the rest of the service as it was', async () => {
    const simulator = await startEmpty();
    const { headers } = await ask(simulator, 'api/47/system/info');
    await simulator.stop();
    expect(headers.get('content-security-policy')).toBe(null);
  });
});
