import type { Express, NextFunction, Request, Response, Router } from 'express';
import express from 'express';
import type { Control } from './control.ts';
import { advance } from './engine/engine.ts';
import type { Faults } from './faults.ts';
import { createApiRouter } from './routes/api.ts';
import { createControlRouter } from './routes/control-routes.ts';
import { exchangeOf, html, httpDate, type RequestLog, send, setExchange } from './routes/exchange.ts';
import { authOf, type Sessions } from './routes/sessions.ts';
import { tellTruth } from './truth.ts';
import type { Member } from './world/installation.ts';
import type { World } from './world/world.ts';

type AppParts = {
  readonly world: World;
  readonly faults: Faults;
  readonly sessions: Sessions;
  readonly log: RequestLog;
  readonly control: Control;
  /** Returns the member that answers a request: the pinned member, or the next member of the load balancer. */
  readonly nextMember: () => Member;
  /** Pages beside the simulated server; requests to such pages do not count as requests to the server. */
  readonly traceSink: Router;
};

/** Creates the simulated server as one HTTP application. A cluster has one app for each address. */
export function createApp({ world, faults, sessions, log, control, nextMember, traceSink }: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(traceSink);
  app.use((request, response, next) => {
    const trueMs = world.clock.now();
    advance(world, trueMs);
    const member = nextMember();
    const nowMs = trueMs + member.skewMs;
    const baseUrl = `${request.protocol}://${request.get('host') ?? 'localhost'}`;
    const url = new URL(`http://service${request.url}`);
    const entry = {
      atMs: trueMs,
      method: request.method,
      path: url.pathname,
      query: withoutSecret(url),
      status: 0,
      listed: 0,
      costMs: 0,
      endpointKnown: false,
      accept: request.get('accept'),
      auth: authOf(request, world, url),
    };
    response.setHeader('Date', httpDate(nowMs));
    setExchange(response, { world, member, nowMs, url, baseUrl, log: entry, spoil: undefined });
    if (!url.pathname.startsWith('/simulator')) {
      member.meters.requests += world.settings.countRequests ? 1 : 0;
      log.add(entry);
    }
    next();
  });
  app.use('/simulator', createControlRouter(control, { truth: () => tellTruth(world), requests: () => log.all() }));
  app.use((request, response, next) => {
    const [path = ''] = request.originalUrl.split('?');
    if (!world.release.refusesOddPaths || !/\/\/|%(2f|25|5c|3b)/i.test(path)) return next();
    send(request, response, { status: 400, text: html('Bad Message 400'), contentType: 'text/html;charset=utf-8' });
  });
  app.use((request, response, next) => faults.handle(request, response, next));
  app.use((request, response, next) => {
    const { member } = exchangeOf(response);
    if (world.clock.now() < member.readyAtMs) {
      send(request, response, { status: 503 });
      return;
    }
    next();
  });
  app.get('/monitoring/:name', (request, response, next) => {
    if (!world.settings.monitoring) return next();
    const body = { text: '# TYPE jvm_threads_live_threads gauge\njvm_threads_live_threads 35\n' };
    const { name } = request.params;
    send(request, response, { status: 200, ...(name === 'prometheus' ? body : { json: { status: 'UP' } }) });
  });
  app.use(sessions.router);
  app.use('/api', createApiRouter(sessions));
  app.use((request, response) => send(request, response, { status: 404, json: { error: 'Not found' } }));
  app.use((error: { status?: number }, request: Request, response: Response, _next: NextFunction) => {
    const asks = request.get('accept')?.includes('json') === true;
    const status = error.status ?? 500;
    const title = status === 500 ? 'A server error occurred' : 'Bad request';
    const contentType = 'text/html;charset=utf-8';
    send(request, response, asks ? { status, json: { error: title } } : { status, text: html(title), contentType });
  });
  return app;
}

function withoutSecret(url: URL): string {
  const query = new URLSearchParams(url.searchParams);
  if (query.has('authtoken')) query.set('authtoken', '<secret>');
  return query.toString();
}
