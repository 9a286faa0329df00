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
  it('links a trace to its execution in the exporter', async () => {
    const simulator = await startEmpty({
      executionPage: (server, id) => `http://exporter.example.org/${server}/${id}`,
    });
    const none = await ask(simulator, 'simulator/traces');
    const posted = await post(simulator, gzipSync(encode([root, step], { resource })), { encoding: 'gzip' });
    const list = await ask(simulator, 'simulator/traces');
    const asked = simulator.requests();
    await simulator.stop();

    expect(none.text).toContain('No trace has arrived yet.');
    expect(posted).toEqual({ status: 200, type: 'application/x-protobuf', text: '' });
    expect(list.text).toContain(
      `<tr id="${traceId}"><th scope="row"><a href="http://exporter.example.org/demo/4711">RUN pay/&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38; <span class="dim">#4711</span></a></th><td>2026-01-15 12:00:00 UTC</td><td class="count">1.0 s</td><td class="count">2 spans</td><td class="ill">✗ timeout</td>`,
    );
    expect(list.text).not.toContain('<script');
    expect(list.headers.get('content-security-policy')).toContain("default-src 'none'");
    // The trace sink is not part of the watched service.
    expect(asked).toEqual([]);
  });

  it('lists the last 200 of 1,000 stored traces', async () => {
    const simulator = await startEmpty();
    const toId = (place: number): string => String(place).padStart(32, '0');
    const all = Array.from({ length: 1001 }, (_, place) =>
      encode([{ ...root, startMs: startMs + place * 1000, endMs: startMs + place * 1000 }], { id: toId(place + 1) }),
    );
    await post(simulator, Buffer.concat(all));
    const list = await ask(simulator, 'simulator/traces');
    await simulator.stop();
    expect(list.text).toContain('These 200 of 1000 began last');
    const listed = [...list.text.matchAll(/<tr id="(\d+)">/g)].map(([, id]) => id);
    expect([listed.length, listed[0], listed.at(-1)]).toEqual([200, toId(1001), toId(802)]);
  });

  it('has no link without an exporter', async () => {
    const simulator = await startEmpty();
    await post(simulator, encode([root], { resource }));
    const { text } = await ask(simulator, 'simulator/traces');
    await simulator.stop();
    expect(text).toContain('<th scope="row">RUN pay/');
  });

  it('refuses an unreadable request permanently', async () => {
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
    expect(list.text).toContain('No trace has arrived yet.');
  });

  it('does not change the rest of the simulated server', async () => {
    const simulator = await startEmpty();
    const { headers } = await ask(simulator, 'api/47/system/info');
    await simulator.stop();
    expect(headers.get('content-security-policy')).toBe(null);
  });
});
