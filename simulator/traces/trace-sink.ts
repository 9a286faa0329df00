import { type ErrorRequestHandler, type RequestHandler, Router, raw } from 'express';
import { renderList, renderMissing, renderTrace } from './pages.ts';
import { readRequest } from './read-request.ts';
import { createShelf, type KeptTrace } from './shelf.ts';

/** The page of an execution in what watches this service; undefined where there is none. */
export type ExecutionPage = (server: string, executionId: string) => string | undefined;

/** A collector of traces for people without one: takes OTLP in protobuf, keeps the last traces, and shows them. */
export function createTraceSink(executionPage: ExecutionPage = () => undefined): Router {
  const shelf = createShelf(limits);
  const router = Router();
  router.use(['/v1/traces', '/simulator/traces'], setHeaders);
  router.post('/v1/traces', raw({ type: protobuf, limit: mostBytes }), (request, response) => {
    const body: unknown = request.body;
    if (!Buffer.isBuffer(body)) {
      const hint = `This collector takes ${protobuf} alone: OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf.\n`;
      response.status(415).type('text/plain').send(hint);
      return;
    }
    shelf.keep(readRequest(body));
    // An answer without a field says that all was taken.
    response.type(protobuf).end();
  });
  router.get('/simulator/traces', (_request, response) => {
    response.send(renderList(shelf.list().slice(0, mostListed), shelf.list().length));
  });
  router.get('/simulator/traces/:id', (request, response) => {
    const trace = shelf.find(request.params.id);
    if (trace === undefined) response.status(404).send(renderMissing(limits.traces));
    else response.send(renderTrace(trace, toExecutionPage(trace, executionPage)));
  });
  router.use(refuse);
  return router;
}

const protobuf = 'application/x-protobuf';
const mostBytes = 8 * 2 ** 20;
const limits = { traces: 1000, bytes: 16 * 2 ** 20 };
const mostListed = 200;

function toExecutionPage({ root: { resource } }: KeptTrace, executionPage: ExecutionPage): string | undefined {
  const server = resource.get('automation.server.name');
  const executionId = resource.get('cicd.pipeline.run.id');
  return server === undefined || executionId === undefined ? undefined : executionPage(server, executionId);
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

/** A request that cannot be read is not worth another try: the answer says so. */
const refuse: ErrorRequestHandler = (error: { status?: number; message?: string }, _request, response, _next) => {
  response
    .status(error.status ?? 400)
    .type('text/plain')
    .send(`${error.message ?? 'no trace'}\n`);
};
