import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorDetails, isOfWholeServer } from '../../src/api/errors.ts';

const judge = (details: Omit<ApiErrorDetails, 'apiEndpoint'>): boolean =>
  isOfWholeServer(new ApiError('GET a: failed', { apiEndpoint: 'a', ...details }));

describe('api/errors', () => {
  it.each([
    ['a connection that failed', { kind: 'network' }],
    ['no answer in time', { kind: 'timeout' }],
    ['an answer that a gateway cut', { kind: 'decode' }],
    ['refused credentials', { kind: 'unauthorized', status: 403, isOfService: true }],
    ['a proxy that forbids', { kind: 'forbidden', status: 403, isOfService: false }],
    ['a refusal of a proxy without a reason', { kind: 'forbidden', status: 403 }],
    ['too many requests', { kind: 'busy', status: 429 }],
    ['a server in passive mode', { kind: 'passive', status: 503, isOfService: true }],
    ['a gateway without a server', { kind: 'server', status: 502 }],
    ['a server that starts or stops', { kind: 'server', status: 503 }],
    ['a timeout of a gateway', { kind: 'server', status: 504 }],
    ['a request that is not sent because the server failed before', { kind: 'server', unsent: true }],
    ['a page of a proxy', { kind: 'html', status: 200 }],
  ] satisfies [string, Omit<ApiErrorDetails, 'apiEndpoint'>][])(
    'counts %s as an error of the whole server',
    (_what, details) => {
      expect(judge(details)).toBe(true);
    },
  );

  it.each([
    ['one item that cannot be read', { kind: 'forbidden', status: 403, isOfService: true }],
    ['one item that is gone', { kind: 'not_found', status: 404, isOfService: true }],
    ['one request at which the server fails', { kind: 'server', status: 500 }],
    ['one answer that is too large', { kind: 'too_large', status: 200 }],
    ['one answer that is not read to its end, because it is too large', { kind: 'too_large' }],
    ['one answer that cannot be read', { kind: 'decode', status: 200 }],
    ['an endpoint that the version in use does not have', { kind: 'unsupported_version' }],
  ] satisfies [string, Omit<ApiErrorDetails, 'apiEndpoint'>][])(
    'does not count %s as an error of the whole server',
    (_what, details) => {
      expect(judge(details)).toBe(false);
    },
  );
});
