import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

export type CannedAnswer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

type CannedOptions = { readonly apiVersion: number; readonly dialect: 'service' | 'rundeck' };

/** A server of one version and dialect, with a literal answer for each path after `api/{version}/`. */
export async function startCannedServer({ apiVersion, dialect }: CannedOptions) {
  const token = 'canned-token-3f9c';
  const requests: string[] = [];
  let answers: Readonly<Record<string, CannedAnswer>> = {};

  function choose(request: IncomingMessage): CannedAnswer {
    const [, asked = '', path = ''] = /^\/api\/(\d+)\/([^?]*)/.exec(request.url ?? '') ?? [];
    if (request.headers[`x-${dialect}-auth-token`] !== token) return errorBody(403, 'unauthorized', apiVersion);
    if (Number(asked) > apiVersion) return errorBody(400, 'api.error.api-version.unsupported', apiVersion);
    return answers[path] ?? errorBody(404, 'api.error.invalid.request', apiVersion);
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`);
    const { status = 200, headers = {}, body } = choose(request);
    response.writeHead(status, { 'content-type': 'application/json;charset=utf-8', ...headers });
    response.end(body);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    /** The requests in order of their arrival, such as `GET /api/47/system/info`. */
    requests,
    answer: (next: Readonly<Record<string, CannedAnswer>>) => {
      answers = next;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function errorBody(status: number, errorCode: string, apiversion: number): CannedAnswer {
  return { status, body: JSON.stringify({ error: true, apiversion, errorCode, message: 'refused' }) };
}
