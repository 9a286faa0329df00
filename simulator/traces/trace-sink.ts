import { type ErrorRequestHandler, type RequestHandler, Router, raw } from 'express';
import { type Markup, page, renderPage } from '../page.ts';
import { readMetricsRequest, type SunkPoint } from './read-metrics.ts';
import { readLogRequest, readRequest, type SunkRecord } from './read-request.ts';
import { createShelf, type KeptTrace } from './shelf.ts';

/** Returns the page of an execution in the exporter that watches this server; undefined if there is none. */
export type ExecutionPage = (server: string, executionId: string) => string | undefined;

/** A simple backend: accepts traces, log records and metrics by OTLP in protobuf, keeps the last of each, and lists them. */
export function createTraceSink(executionPage: ExecutionPage = () => undefined): Router {
  const shelf = createShelf(limits);
  let records: readonly SunkRecord[] = [];
  let points: readonly SunkPoint[] = [];
  const router = Router();
  router.use(['/v1/traces', '/v1/logs', '/v1/metrics', '/simulator/traces', '/simulator/log-records'], setHeaders);
  const take = (keep: (body: Buffer) => void): RequestHandler[] => [
    raw({ type: protobuf, limit: maxBytes }),
    (request, response) => {
      const body: unknown = request.body;
      if (!Buffer.isBuffer(body)) {
        const hint = `This trace backend accepts only ${protobuf}: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf.\n`;
        response.status(415).type('text/plain').send(hint);
        return;
      }
      keep(body);
      // An empty response means that everything was accepted.
      response.type(protobuf).end();
    },
  ];
  router.post('/v1/traces', ...take((body) => shelf.keep(readRequest(body))));
  router.post('/v1/logs', ...take((body) => (records = [...records, ...readLogRequest(body)].slice(-maxRecords))));
  router.post('/v1/metrics', ...take((body) => (points = [...points, ...readMetricsRequest(body)].slice(-maxPoints))));
  router.get('/simulator/metric-points', setHeaders, (_request, response) => {
    response.json(points);
  });
  router.get('/simulator/log-records', (_request, response) => {
    const toPlain = (record: SunkRecord) => ({
      ...record,
      attributes: Object.fromEntries(record.attributes),
      resource: Object.fromEntries(record.resource),
    });
    response.json(records.map(toPlain));
  });
  router.get('/simulator/traces', (_request, response) => {
    response.send(renderList(shelf.list(), executionPage));
  });
  router.use(refuse);
  return router;
}

const protobuf = 'application/x-protobuf';
const maxBytes = 8 * 2 ** 20;
const limits = { traces: 1000, bytes: 16 * 2 ** 20 };
const maxListed = 200;
const maxRecords = 1000;
const maxPoints = 100_000;

function renderList(traces: readonly KeptTrace[], executionPage: ExecutionPage): string {
  const listed = traces.slice(0, maxListed);
  const table = page`<table>
<thead><tr><th>Execution</th><th>Began</th><th class="count">Took</th><th class="count">Spans</th><th>Result</th></tr></thead>
<tbody>${listed.map((trace) => renderRow(trace, executionPage))}</tbody>
</table>`;
  const none = page`<p>No trace has arrived yet. A trace is sent after its execution has ended and its steps were read; load this page again in a moment.</p>`;
  return renderPage(
    'The last traces',
    page`<p class="dim">Each execution is one OpenTelemetry trace. These ${listed.length} of ${traces.length} began last; the exporter shows what is in them.</p>
${traces.length === 0 ? none : table}`,
  );
}

/** Renders a trace. The anchor of a trace is the trace id, which links use. */
function renderRow({ traceId, root, spans }: KeptTrace, executionPage: ExecutionPage): Markup {
  const server = root.resource.get('automation.server.name');
  const id = root.resource.get('cicd.pipeline.run.id');
  const result = root.attributes.get('cicd.pipeline.result') ?? '';
  const link = server === undefined || id === undefined ? undefined : executionPage(server, id);
  const name = page`${root.name} <span class="dim">${id === undefined ? traceId : `#${id}`}</span>`;
  const [mood, sign] = root.isError ? ['ill', '✗'] : result === 'success' ? ['well', '✓'] : ['other', '·'];
  return page`<tr id="${traceId}"><th scope="row">${link === undefined ? name : page`<a href="${link}">${name}</a>`}</th><td>${toTime(root.startMs)}</td><td class="count">${toLength(root.endMs - root.startMs)}</td><td class="count">${spans.length} ${spans.length === 1 ? 'span' : 'spans'}</td><td class="${mood}">${sign} ${result}</td></tr>
`;
}

function toTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function toLength(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}

const setHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  next();
};

/** The answer says not to retry an unreadable request. */
const refuse: ErrorRequestHandler = (error: { status?: number; message?: string }, _request, response, _next) => {
  response
    .status(error.status ?? 400)
    .type('text/plain')
    .send(`${error.message ?? 'no trace'}\n`);
};
