import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { executionMode } from '../../src/api/endpoints/system.ts';
import type { ApiError } from '../../src/api/errors.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { interceptUpstream, type Upstream } from '../support/nock.ts';

let upstream: Upstream;
beforeEach(() => {
  upstream = interceptUpstream();
  onTestFinished(() => upstream.done());
});

type Dialect = 'rundeck' | 'service';
type Answer = {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Connects to a server of the dialect, and requests its execution mode once. */
async function ask({ status, body = '', headers = {} }: Answer, dialect: Dialect = 'rundeck', times = 1) {
  const info = { system: { [dialect]: { version: '5.3.0', apiversion: 47 } } };
  const token = [`x-${dialect}-auth-token`, 'planted'] as const;
  upstream.answers('/api/47/system/info', token, { status: 200, body: info });
  const json = { 'content-type': 'application/json;charset=utf-8', ...headers };
  upstream.answers('/api/47/system/executions/status', token, { status, body, headers: json, times });
  const { api, close, seen } = createTestClient({ url: upstream.url, token: fixedSecret('planted'), dialect });
  onTestFinished(close);
  const outcome = await api.get(executionMode).catch((error: unknown) => error);
  return { outcome, seen };
}

async function fail(answer: Answer, times?: number) {
  const { outcome } = await ask(answer, 'rundeck', times);
  // This cast is safe: a client rejects only with this error.
  const { kind, message, details } = outcome as ApiError;
  return { kind, message, retryAfterMs: details.retryAfterMs };
}

/** Some errors of release 3 of the rundeck dialect, which are XML also for clients that accept only JSON. */
const xmlRefusal = (code: string): string =>
  `<result error='true' apiversion='31'>\n  <error code='${code}'>\n    <message>No &amp; no</message>\n  </error>\n</result>`;

const refusal = (errorCode: string): string =>
  JSON.stringify({ error: true, apiversion: 47, errorCode, message: 'no' });

describe('api/plain answers', () => {
  it.each<Dialect>(['rundeck', 'service'])('reads JSON of the dialect %s', async (dialect) => {
    const { outcome, seen } = await ask({ status: 200, body: '{"executionMode":"passive"}' }, dialect);
    expect(outcome).toBe('passive');
    expect(seen).toEqual(['system-info 200', 'execution-mode 200']);
  });

  it('reads JSON after a byte order mark', async () => {
    const { outcome } = await ask({ status: 200, body: '\uFEFF{"executionMode":"active"}' });
    expect(outcome).toBe('active');
  });

  it.each(['gzip', 'x-gzip', 'GZIP'])('reads a response compressed as %s', async (encoding) => {
    const { outcome } = await ask({
      status: 200,
      body: gzipSync('{"executionMode":"active"}'),
      headers: { 'content-encoding': encoding },
    });
    expect(outcome).toBe('active');
  });

  it.each([
    ['cut', gzipSync(refusal('unauthorized')).subarray(0, -4), 'unauthorized'],
    ['no gzip at all', Buffer.from('denied'), 'forbidden'],
  ])('keeps the status of an error response whose compressed body is %s', async (_damage, body, denied) => {
    const kinds: string[] = [];
    for (const [status, times] of [
      [403, 1],
      [404, 1],
      [429, 3],
      [500, 1],
      [200, 1],
    ] as const)
      kinds.push((await fail({ status, body, headers: { 'content-encoding': 'gzip' } }, times)).kind);
    expect(kinds).toEqual([denied, 'not_found', 'busy', 'server', 'decode']);
  });

  it.each([
    [refusal('api.error.item.doesnotexist'), 'not found, or switched off'],
    [refusal('api.error.project.missing'), 'not found, or switched off'],
    [refusal('api.error.project.disabled'), 'not found, or switched off'],
    [refusal('api.error.invalid.request'), 'not found, or switched off'],
    ['{"error":"true","errorCode":"api.error.item.doesnotexist"}', 'not found, or switched off'],
    ['{"error":"Not found"}', 'the API is not there; is the path of the URL right?'],
    ['<html>Not found</html>', 'the API is not there; is the path of the URL right?'],
    ['', 'the API is not there; is the path of the URL right?'],
  ])('determines who sent a 404 with the body %j', async (body, says) => {
    expect(await fail({ status: 404, body })).toEqual({
      kind: 'not_found',
      message: `GET execution-mode: HTTP 404, ${says}`,
      retryAfterMs: undefined,
    });
  });

  it.each([
    [refusal('unauthorized'), 'unauthorized', 'the credentials are missing, wrong or expired'],
    [refusal('api.error.item.unauthorized'), 'forbidden', 'these credentials cannot read it'],
    ['{"error":true,"message":"Forbidden"}', 'forbidden', 'these credentials cannot read it'],
    [xmlRefusal('api.error.item.unauthorized'), 'forbidden', 'these credentials cannot read it'],
    [
      `<?xml version="1.0"?>${xmlRefusal('unauthorized')}`,
      'unauthorized',
      'the credentials are missing, wrong or expired',
    ],
    [
      "<result success='true' apiversion='31'><error/></result>",
      'forbidden',
      'refused by a proxy or firewall in front of the server',
    ],
    ['<html>Forbidden</html>', 'forbidden', 'refused by a proxy or firewall in front of the server'],
    ['', 'forbidden', 'refused by a proxy or firewall in front of the server'],
  ])('determines what was refused by a 403 with the body %j', async (body, kind, says) => {
    expect(await fail({ status: 403, body })).toMatchObject({ kind, message: `GET execution-mode: HTTP 403, ${says}` });
  });

  it.each([
    [400, refusal('api.error.api-version.unsupported'), 'unsupported_version'],
    [400, xmlRefusal('api.error.api-version.unsupported'), 'unsupported_version'],
    [400, refusal('api.error.parameter.invalid'), 'rejected'],
    [405, '{"error":"Method not allowed"}', 'rejected'],
    [415, refusal('api.error.item.unsupported-format'), 'rejected'],
    [500, '{"error":"A server error occurred"}', 'server'],
  ])('reports the kind of error for a status %d with the body %j', async (status, body, kind) => {
    expect(await fail({ status, body })).toMatchObject({ kind });
  });

  it.each([
    [429, '120', '120'],
    [503, '120', '120'],
    [503, 'Fri, 01 Jan 2100 00:00:00 GMT', '300'],
  ])('sends nothing during a requested pause after %d (%s)', async (status, value, seconds) => {
    expect(await fail({ status, headers: { 'retry-after': value } })).toMatchObject({
      kind: 'busy',
      message: `GET execution-mode: not asked, the server responded with HTTP ${status} and asked for a pause, of which ${seconds} s remain`,
    });
  });

  it('retries after the requested pause', async () => {
    const headers = { 'retry-after': 'Sat, 01 Jan 2000 00:00:00 GMT' };
    expect(await fail({ status: 503, headers }, 3)).toEqual({
      kind: 'server',
      message: 'GET execution-mode: HTTP 503, the server failed',
      retryAfterMs: 0,
    });
  });

  it('ignores a requested pause in any other response', async () => {
    expect(await fail({ status: 500, headers: { 'retry-after': '120' } })).toMatchObject({
      kind: 'server',
      retryAfterMs: undefined,
    });
  });
});
