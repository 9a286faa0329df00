import { type IncomingHttpHeaders, request } from 'node:http';
import type { Router } from 'express';
import { expect, onTestFinished } from 'vitest';
import { createHttpServer, type HttpOptions } from '../../src/http/server/server.ts';

export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

export type Served = Awaited<ReturnType<typeof serve>>;

type Asking = { readonly method?: string; readonly headers?: Readonly<Record<string, string>> };

/** Serves these routes on a free port until the test ends. */
export async function serve(routes: readonly Router[], options: Partial<HttpOptions> = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  const server = createHttpServer({ host: '127.0.0.1', port: 0, routes, onError, ...options });
  const port = await server.listen();
  onTestFinished(server.close);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** Sends the path as written; most clients normalise it. */
    ask: async (path: string, asking?: Asking) => checkTables(await ask(port, path, asking)),
  };
}

/** Checks the column names in cells, which narrow screens show instead of the heading. */
function checkTables(answer: Answer): Answer {
  for (const [table] of answer.body.matchAll(/<table.*?<\/table>/gs)) {
    const find = (pattern: RegExp) => [...table.matchAll(pattern)].map(([, found]) => found);
    expect(find(/<th\b[^>]*>([^<]+)</g)).toEqual(expect.arrayContaining(find(/ data-is="([^"]*)"/g)));
  }
  return answer;
}

function ask(port: number, path: string, { method = 'GET', headers = {} }: Asking = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}
