import type { Request, Response, Router } from 'express';
import { createRoutes } from '../server/routes.ts';

/** The selection of a scrape. Without names, the query selects all servers and all collectors. */
export type ScrapeWish = {
  readonly accept: string | undefined;
  readonly gzip: boolean;
  readonly servers?: ReadonlySet<string>;
  readonly collectors?: ReadonlySet<string>;
};

type Scraped = { readonly contentType: string; readonly chunks: readonly Buffer[] };

export type MetricsOptions = {
  readonly path: string;
  readonly names: () => Names;
  /** The maximum number of responses that are rendered at the same time. */
  readonly maxRequests: number;
  /** Reads from memory only, and sends no request to a server. */
  readonly scrape: (wish: ScrapeWish) => Promise<Scraped>;
  /** Called when the first scrape is refused because of too many concurrent scrapes. */
  readonly onBusy: () => void;
};

type Names = { readonly servers: readonly string[]; readonly collectors: readonly string[] };

export function metricsRoute({ path, names, maxRequests, scrape, onBusy }: MetricsOptions): Router {
  const router = createRoutes();
  let underWay = 0;
  let wasBusy = false;

  async function answer(request: Request, response: Response, filters: Filters): Promise<void> {
    // Responses depend on headers of the request, so caches must not serve a response to other clients.
    response.set({ vary: 'Accept, Accept-Encoding', 'cache-control': 'no-store' });
    const gzip = request.acceptsEncodings('gzip', 'identity') === 'gzip';
    const { contentType, chunks } = await scrape({ accept: request.headers.accept, gzip, ...filters });
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    response.set({ 'content-type': contentType, 'content-length': String(length) });
    if (gzip) response.set('content-encoding', 'gzip');
    if (request.method === 'HEAD') response.end();
    else if (request.secure) void sendInPieces(response, chunks);
    else sendAtOnce(response, chunks);
  }

  router.get(path, async (request, response) => {
    const filters = readFilters(request.originalUrl, names());
    if (typeof filters === 'string') {
      refuse(response, 400, filters);
      return;
    }
    if (underWay >= maxRequests) {
      if (!wasBusy) onBusy();
      wasBusy = true;
      response.set('retry-after', '1');
      refuse(response, 503, `${maxRequests} scrapes are already in progress; raise web.max_requests to allow more.\n`);
      return;
    }
    // A scrape is in progress only while its response is rendered: slow clients must not block others.
    underWay += 1;
    try {
      await answer(request, response, filters);
    } finally {
      underWay -= 1;
    }
  });
  router.all(path, (_request, response) => {
    response.set('allow', 'GET, HEAD');
    refuse(response, 405, 'Metrics are read-only: use GET.\n');
  });
  return router;
}

/** Sends a body as a whole. Without TLS the bytes of a response are not copied, so all scrapes share them. */
function sendAtOnce(response: Response, chunks: readonly Buffer[]): void {
  response.cork();
  for (const chunk of chunks) response.write(chunk);
  response.uncork();
  response.end();
}

type Filters = Pick<ScrapeWish, 'servers' | 'collectors'>;

/** Reads the filters of a scrape, which have the names that other exporters use. Returns a text if the query has a mistake. */
function readFilters(url: string, names: Names): Filters | string {
  const query = new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]);
  const servers = query.getAll('server[]');
  const collect = query.getAll('collect[]');
  const exclude = query.getAll('exclude[]');
  const unknown = [
    ...servers.filter((name) => !names.servers.includes(name)).map((name) => `There is no server ${quote(name)}.\n`),
    ...[...collect, ...exclude]
      .filter((name) => !names.collectors.includes(name))
      .map((name) => `There is no collector ${quote(name)}.\n`),
  ];
  const both =
    collect.length > 0 && exclude.length > 0 ? ['A scrape takes either collect[] or exclude[], not both.\n'] : [];
  // `view=all` once returned the servers of all replicas, and another response could be mistaken for that list.
  const view = query.has('view') ? ['There is no view=all: scrape each exporter (docs/several-exporters.md).\n'] : [];
  const complaints = [...unknown, ...both, ...view];
  if (complaints.length > 0)
    return complaints.join('') + list('Servers', names.servers) + list('Collectors', names.collectors);
  const collectors = exclude.length > 0 ? names.collectors.filter((name) => !exclude.includes(name)) : collect;
  return {
    ...(servers.length > 0 ? { servers: new Set(servers) } : {}),
    ...(collectors.length > 0 || exclude.length > 0 ? { collectors: new Set(collectors) } : {}),
  };
}

function list(title: string, names: readonly string[]): string {
  return `${title}: ${names.join(', ')}\n`;
}

/** Cuts and escapes a name, so that it cannot look like another line. */
function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

function refuse(response: Response, status: number, text: string): void {
  response.status(status).type('text/plain').send(text);
}

/** Writes a piece of a body after the system has taken the previous piece, because TLS copies its input. */
async function sendInPieces(response: Response, chunks: readonly Buffer[]): Promise<void> {
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += pieceBytes) {
      if (response.destroyed) return;
      await new Promise<void>((resolve) => {
        response.write(chunk.subarray(from, from + pieceBytes), () => resolve());
      });
    }
  }
  response.end();
}

/** The size of a piece: two TLS records. */
const pieceBytes = 32_768;
