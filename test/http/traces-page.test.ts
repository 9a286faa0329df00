import { describe, expect, it } from 'vitest';
import { tracesPageRoute } from '../../src/http/pages/traces/traces-page.ts';
import type { Elsewhere, QuarantineStatus, TracesStatus } from '../../src/status/status.ts';
import { isEscaped, toText } from './page-text.ts';
import { serve } from './serve.ts';
import { atMs, quarantine, stuckLogs, stuckTraces, traces } from './some-status.ts';

type Given = {
  readonly shown?: TracesStatus | undefined;
  readonly quarantined?: readonly QuarantineStatus[];
  readonly isEnabled?: boolean;
  readonly elsewhere?: readonly Elsewhere[];
};

async function readPage(given: Given) {
  const { quarantined = [], isEnabled = false } = given;
  const shown = 'shown' in given ? given.shown : traces();
  const route = tracesPageRoute({
    status: async () => ({ traces: shown, atMs }),
    quarantined: () => {
      if (shown === undefined) return { list: async () => new Promise<never>(() => undefined) };
      return shown.delivery === undefined ? undefined : { list: async () => quarantined };
    },
    hasPage: (server, id) => server === 'prod' && id === 4711,
    elsewhere: () => given.elsewhere ?? [],
    lifecycle: { isEnabled: () => isEnabled, externalUrl: () => 'https://exporter.example.org/here' },
  });
  const { ask } = await serve([route]);
  const { status, headers, body } = await ask('/traces');
  expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'no-store' });
  return { body, text: toText(body), headers };
}

const refused = { ...traces(), quarantine: 2, quarantinedBytes: 6800 };
const both = [quarantine(), quarantine({ server: "o'hara's", executionId: '12', reason: 'HTTP 413' })];

describe('http/traces-page', () => {
  it('reports that all traces are delivered', async () => {
    const { text, body } = await readPage({});
    expect(text).toBe(`✓All traces are delivered
As of 2024-05-20 03:19:40 UTC; reload.
Trace backend: collector.example.org:4318
Delivered last: 03:19 UTC (12 s ago)
Waiting for delivery: nothing
Room for: 100,000 traces, 256 MiB
Quarantined: nothing`);
    expect(body).toContain('<title>All traces are delivered</title>');
    expect(body).toContain('<a href="./traces">reload</a>');
  });

  it('links to the exporters that send the traces of other servers', async () => {
    const watcher = { is: 'other', address: 'http://b:9720/', page: 'http://b:9720' } as const;
    const { text, body } = await readPage({ elsewhere: [{ server: 'prod', watcher }] });
    expect(text).toMatch(/^→ "prod" is watched by another exporter: http:\/\/b:9720\/ \(open\)\./);
    expect(text).toContain('This page does not include it.');
    expect(body).toContain('<a href="http://b:9720/">open</a>');
  });

  it('reports why no trace is delivered', async () => {
    const { text } = await readPage({ shown: stuckTraces() });
    expect(text).toBe(`✗Traces cannot be delivered (since 03:09 UTC, 10 min ago)
Why: collector.example.org:4318: the connection was refused; is the OTLP endpoint running? (ECONNREFUSED).
As of 2024-05-20 03:19:40 UTC; reload.
Trace backend: collector.example.org:4318
Delivered last: 03:19 UTC (12 s ago)
Waiting for delivery: 1,200 traces, 4.7 MiB
Oldest finished: 03:04 UTC (15 min ago)
Room for: 100,000 traces, 256 MiB
Waiting for steps: 3 executions
Quarantined: 2 traces, 6.6 KiB
Room in the quarantine: 10,000 traces, 64 MiB`);
  });

  it('distinguishes undelivered log records from undelivered traces', async () => {
    const { text } = await readPage({ shown: stuckLogs() });
    expect(text).toContain(
      '✗Log records cannot be delivered (since 03:09 UTC, 10 min ago)\nWhy: log records: logs.example.org: HTTP 503.\n',
    );
  });

  it('reports that the spool is full', async () => {
    const { text } = await readPage({ shown: traces({ waiting: 100_000, waitingBytes: 5000, oldestMs: atMs }) });
    expect(text).toMatch(/^✓100,000 traces in progress\n/);
    expect(text).toContain('\n! The queue is full: executions are still counted, and new traces are created after');
  });

  it('shows quarantined traces with their reasons, and the commands to copy', async () => {
    const single = await readPage({ shown: { ...traces(), quarantine: 1 } });
    expect(single.text).toContain('✗The trace backend rejects 1 trace\n');
    const { text, body, headers } = await readPage({ shown: refused, quarantined: both });
    expect(text).toMatch(/^✗The trace backend rejects 2 traces\n/);
    expect(text.slice(text.indexOf('Execution |'))).toBe(`Execution | Spans | Size | Since
prod #4711 | 12 | 3.3 KiB | 03:07 UTC (12 min ago)
HTTP 400: bad span
o&#39;hara&#39;s #12 | 12 | 3.3 KiB | 03:07 UTC (12 min ago)
HTTP 413
From the command line
Sending again and dropping require --web.enable-lifecycle, or web: { enable_lifecycle: true } in the configuration, which is reloaded on SIGHUP. This page then has buttons for both.`);
    expect(body).toContain(`<code>automation-exporter quarantine list --url=https://exporter.example.org/here</code>
<code>automation-exporter quarantine retry --all --url=https://exporter.example.org/here</code>
<code>automation-exporter quarantine retry prod/4711 --url=https://exporter.example.org/here</code>
<code>automation-exporter quarantine drop prod/4711 --url=https://exporter.example.org/here</code>
`);
    expect(body).not.toContain('<form');
    expect(headers['content-security-policy']).toContain("form-action 'none'");
  });

  it('links only to executions that have a page', async () => {
    const { body } = await readPage({ shown: refused, quarantined: both });
    expect(body.match(/<a href="[^"]*executions\/[^"]*"/g)).toEqual(['<a href="./executions/prod/4711"']);
  });

  it('quotes names for the shell', async () => {
    const { body } = await readPage({ shown: refused, quarantined: both.toReversed() });
    expect(body).toContain(`quarantine drop ${"'o'\\''hara'\\''s/12'".replaceAll("'", '&#39;')} --url=`);
  });

  it('shows forms only if the configuration allows changes', async () => {
    const { body, text, headers } = await readPage({ shown: refused, quarantined: both, isEnabled: true });
    expect(body.match(/<form method="post" action="\.\/-\/quarantine\/retry">/g)).toHaveLength(3);
    expect(body).toContain('<button name="key" value="prod/4711" aria-label="Send prod #4711 again">');
    expect(body).toContain('<button name="key" value="o&#39;hara&#39;s/12" formaction="./-/quarantine/drop"');
    expect(body).toContain('<button name="all" value="true" aria-label="Send all again">');
    expect(text).not.toContain('--web.enable-lifecycle');
    expect(headers['content-security-policy']).toContain("form-action 'self'");
    // Without this header, a browser sends forms with the origin `null`, which is refused.
    expect(headers['referrer-policy']).toBe('same-origin');
  });

  it('shows at most fifty quarantined traces', async () => {
    const quarantined = Array.from({ length: 1234 }, (_, index) => quarantine({ executionId: String(index + 1) }));
    const { body, text } = await readPage({ shown: { ...refused, quarantine: 1234 }, quarantined });
    expect(body.match(/<th scope="row">/g)).toHaveLength(50);
    expect(text).toContain('\nand 1,184 more traces\n');
  });

  it('says how to switch traces on', async () => {
    const { text, body } = await readPage({ shown: traces({ delivery: undefined, waiting: 3, quarantine: 1 }) });
    expect(text).toBe(`…Traces are off
As of 2024-05-20 03:19:40 UTC; reload.
Each finished execution can become one OpenTelemetry trace. To switch this on, set the endpoint for traces:
or write into the configuration, to send them to http://localhost:4318:
4 traces from an earlier run are kept until traces are on again.`);
    expect(body).toContain('<code>OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example.org:4318</code>');
  });

  it('reports that the state cannot be read', async () => {
    expect((await readPage({ shown: undefined })).text).toBe('✗The state cannot be read');
  });

  it('lets no text open a tag', async () => {
    const areEscaped = await isEscaped(async (text) => {
      const delivery = stuckTraces().delivery && {
        ...stuckTraces().delivery,
        collector: text,
        failing: { sinceMs: 0, reason: text },
      };
      // This cast is safe: only texts change.
      const shown = { ...refused, delivery: delivery as TracesStatus['delivery'] };
      const quarantined = [quarantine({ server: text, reason: text, name: text })];
      return (await readPage({ shown, quarantined, isEnabled: true })).body;
    });
    expect(areEscaped).toBe(true);
  });
});
