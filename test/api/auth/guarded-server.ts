import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from 'node:http';
import { listen } from '../../support/listen.ts';

export type Refusal = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

type Asked = { readonly line: string; readonly headers: IncomingHttpHeaders; readonly body: string };

type ListeningServer = Awaited<ReturnType<typeof startServer>>;

/** A loopback server that records all requests. */
export async function startServer(answer: RequestListener) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    readText(request).then((body) => {
      asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      answer(request, response);
    }, ignore);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type GuardedServer = ListeningServer & {
  /** Sets which requests are admitted from now on, and the response to all other requests. */
  readonly guard: (admits: (headers: IncomingHttpHeaders) => boolean, refusal?: Refusal) => void;
};

/** The response of the service to a wrong or expired token. */
export const unauthorized: Refusal = {
  status: 403,
  body: '{"error":true,"apiversion":47,"errorCode":"unauthorized","message":"no"}',
};

/** Starts a server that sends system info and the execution mode to requests that the guard admits. */
export async function startGuardedServer(dialect: 'service' | 'rundeck'): Promise<GuardedServer> {
  const json = { 'content-type': 'application/json' };
  let admits: (headers: IncomingHttpHeaders) => boolean = () => false;
  let refusal = unauthorized;
  const server = await startServer((request, response) => {
    if (!admits(request.headers)) {
      response.writeHead(refusal.status, { ...json, ...refusal.headers }).end(refusal.body);
      return;
    }
    const info = `{"system":{"${dialect}":{"version":"5.3.0","apiversion":47}}}`;
    response.writeHead(200, json).end(request.url === '/api/47/system/info' ? info : '{"executionMode":"active"}');
  });
  return {
    ...server,
    guard: (next, says = unauthorized) => {
      admits = next;
      refusal = says;
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  // This cast is safe: no encoding was set.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function ignore(): void {}
