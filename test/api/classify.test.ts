import { describe, expect, it } from 'vitest';
import { cutTexts, readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { executionOutput } from '../../src/api/endpoints/execution-output.ts';
import { incompleteLogs } from '../../src/api/endpoints/log-storage.ts';
import { healthcheck, threads } from '../../src/api/endpoints/metrics.ts';
import { projectDisablesExecutions } from '../../src/api/endpoints/projects.ts';
import { storedKeys } from '../../src/api/endpoints/storage.ts';
import { executionMode } from '../../src/api/endpoints/system.ts';
import { ApiError } from '../../src/api/errors.ts';
import type { TransportAnswer } from '../../src/api/wire/transport.ts';

type Given = Partial<TransportAnswer> & { readonly isSession?: boolean };

/** Returns the content of a response, or the kind and the message of its error. */
function read<Answer>(endpoint: Endpoint<Answer>, { isSession = false, ...answer }: Given): Answer | string {
  const whole = { status: 200, headers: {}, cookies: [], body: '', ...answer };
  try {
    return readAnswer(endpoint, whole, { isSession, nowMs: 0 });
  } catch (error) {
    return error instanceof ApiError ? `${error.kind}: ${error.message}` : String(error);
  }
}

describe('api/classify', () => {
  it('recognizes a refusal of the service without an error code', () => {
    const says = 'forbidden: GET execution-mode: HTTP 403, these credentials cannot read it';
    expect(read(executionMode, { status: 403, body: '{"error":true,"message":"no"}' })).toBe(says);
    expect(read(executionMode, { status: 403, body: '{"error":"true","message":"no"}' })).toBe(says);
    expect(read(executionMode, { status: 403, body: '{"error":"Forbidden"}' })).toBe(
      'forbidden: GET execution-mode: HTTP 403, refused by a proxy or firewall in front of the server',
    );
  });

  it('parses a log whose lines contain brackets and braces', () => {
    const log = `${'\u001b[32m.\u001b[0m'.repeat(80)} ${'[]{}'.repeat(20)}`;
    const body = JSON.stringify({
      completed: true,
      entries: Array.from({ length: 200 }, () => ({ log, level: 'NORMAL' })),
    });
    expect(read(executionOutput, { body })).toMatchObject({ isPending: false, isLost: false });
  });

  it('recognizes a refused log without an error code', () => {
    const body = '{"error":"Not authorized","id":"7","offset":"0","completed":false}';
    expect(read(executionOutput, { status: 403, body })).toBe(
      'forbidden: GET execution-output: HTTP 403, these credentials cannot read it',
    );
    expect(read(executionOutput, { status: 404, body, isSession: true })).toBe(
      'not_found: GET execution-output: HTTP 404, not found, or switched off',
    );
  });

  it('uses the first of several joined refusals', () => {
    const refusal = '{"error":true,"errorCode":"api.error.item.unauthorized","apiversion":58,"message":"no"}';
    expect(read(executionMode, { status: 403, body: `${refusal}${refusal}{"error":tr` })).toBe(
      'forbidden: GET execution-mode: HTTP 403, these credentials cannot read it',
    );
  });

  it('does not treat disabled metrics as a session without access', () => {
    const body = '{"error":"Metrics are disabled","enable":"metrics.enabled"}';
    expect(read(threads, { status: 404, body, isSession: true })).toBe(
      'not_found: GET threads: HTTP 404, not found, or switched off',
    );
    expect(read(threads, { status: 404, body: '{"error":"Not found"}', isSession: true })).toBe(
      'unauthorized: GET threads: HTTP 404, this session has no access to the API',
    );
  });

  it('recognizes a page by its content type or its beginning', () => {
    const says = 'html: GET execution-mode: HTTP 200, an HTML page instead of JSON; is this the server or a proxy?';
    const headers = { 'content-type': 'text/html; charset=utf-8' };
    expect(read(executionMode, { headers, body: '<center>Down for maintenance</center>' })).toBe(says);
    expect(read(executionMode, { body: '\n<!DOCTYPE html><p>Down' })).toBe(says);
    expect(read(executionMode, { body: '<center>Down for maintenance</center>' })).toBe(
      'decode: GET execution-mode: HTTP 200, the body is not JSON',
    );
  });
});

describe('api/endpoints', () => {
  it('reads that a server has no health checks', () => {
    expect(read(healthcheck, { status: 501, body: '{}' })).toEqual([]);
    expect(read(healthcheck, { status: 500, body: '{"database":{"healthy":false}}' })).toEqual([
      { name: 'database', healthy: false },
    ]);
    expect(read(healthcheck, { status: 500, body: '{"error":"A server error occurred"}' })).toBe(
      'server: GET healthcheck: HTTP 500, the server failed',
    );
  });

  it('reads a missing switch of a project as off', () => {
    const body = '{"error":true,"errorCode":"api.error.item.doesnotexist","message":"property does not exist"}';
    expect(read(projectDisablesExecutions, { status: 404, body })).toBe(false);
    expect(read(projectDisablesExecutions, { body: '{"key":"project.disable.executions","value":"true"}' })).toBe(true);
    expect(read(projectDisablesExecutions, { body: '{"project.disable.executions":"true"}' })).toBe(true);
    expect(read(projectDisablesExecutions, { status: 404, body: '{"error":true,"errorCode":"api.error.other"}' })).toBe(
      'not_found: GET project-disable-executions: HTTP 404, not found, or switched off',
    );
  });

  it('counts the listed incomplete logs if the server sends no total', () => {
    const executions = '[{"id":7,"project":"pay","storage":{"queued":true,"failed":false}},{"id":"8"}]';
    expect(read(incompleteLogs, { body: `{"executions":${executions}}` })).toEqual({
      total: 2,
      max: undefined,
      items: [
        { id: 7, project: 'pay', queued: true, failed: false, sinceMs: undefined },
        { id: 8, project: undefined, queued: undefined, failed: undefined, sinceMs: undefined },
      ],
    });
    expect(read(incompleteLogs, { body: `{"total":9,"executions":${executions}}` })).toMatchObject({ total: 9 });
  });

  it('reads the kind of a stored key from the fields of each release', () => {
    const keys = [
      { 'Rundeck-key-type': 'private', 'Rundeck-content-type': 'application/octet-stream' },
      { 'Service-key-type': 'public' },
      { 'Rundeck-data-type': 'password' },
      { 'Rundeck-content-type': 'application/x-rundeck-data-password' },
      { 'Rundeck-content-type': 'text/plain' },
      { 'Rundeck-key-type': 'something-new' },
    ];
    const resources = keys.map((meta) => ({ type: 'file', path: 'keys/a', meta }));
    expect(read(storedKeys, { body: JSON.stringify({ type: 'directory', resources }) })).toMatchObject({
      kinds: ['private', 'public', 'password', 'password'],
      folders: [],
    });
  });
});

function cut(value: unknown): { readonly value: unknown; readonly cut: number } {
  const source = JSON.stringify(value);
  return cutTexts(JSON.parse(source), source);
}

describe('api/cut-texts', () => {
  it('cuts texts to 1024 characters at any depth', () => {
    const long = 'n'.repeat(10_000);
    const short = `${'n'.repeat(1023)}…`;
    expect(cut([{ name: long, nodes: { [long]: { osFamily: 'unix' } } }, 'x'.repeat(1024)])).toEqual({
      value: [{ name: short, nodes: { [short]: { osFamily: 'unix' } } }, 'x'.repeat(1024)],
      cut: 2,
    });
    expect(cut(long)).toEqual({ value: short, cut: 1 });
  });

  it('does not cut a character in half', () => {
    expect(cut(['"'.repeat(2000)])).toEqual({ value: [`${'"'.repeat(1023)}…`], cut: 1 });
    expect(cut(['x'.repeat(1022) + '😀'.repeat(9)])).toEqual({ value: [`${'x'.repeat(1022)}…`], cut: 1 });
  });

  it('leaves short texts unchanged', () => {
    const value = { a: ['x'.repeat(1000), 'y'.repeat(1000)], b: null, c: 1.5 };
    expect(cut(value)).toEqual({ value, cut: 0 });
    const deep = `${'['.repeat(40_000)}"${'z'.repeat(2000)}"${']'.repeat(40_000)}`;
    expect(cutTexts(JSON.parse(deep), deep).cut).toBe(1);
  });
});
