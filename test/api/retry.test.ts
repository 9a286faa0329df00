import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorDetails } from '../../src/api/errors.ts';
import { readRetryAfterMs, retryDelayMs } from '../../src/api/retry.ts';

function delaysMs(details: Partial<ApiErrorDetails>, random = 1) {
  const error = new ApiError('failed', { kind: 'network', apiEndpoint: 'system-info', ...details });
  return [1, 2, 3].map((tries) => retryDelayMs(error, tries, random));
}

describe('api/retry', () => {
  it.each<Partial<ApiErrorDetails>>([
    { kind: 'network' },
    { kind: 'busy', status: 429 },
    { kind: 'server', status: 502 },
    { kind: 'server', status: 503 },
    { kind: 'server', status: 504 },
  ])('makes two more attempts after %o', (details) => {
    expect(delaysMs(details)).toEqual([400, 800, undefined]);
    expect(delaysMs(details, 0)).toEqual([0, 0, undefined]);
  });

  it.each<Partial<ApiErrorDetails>>([
    { kind: 'server', status: 500 },
    { kind: 'server', status: 501 },
    { kind: 'timeout' },
    { kind: 'tls' },
    { kind: 'unauthorized', status: 401 },
    { kind: 'forbidden', status: 403 },
    { kind: 'not_found', status: 404 },
    { kind: 'unsupported_version', status: 400 },
    { kind: 'passive', status: 503 },
    { kind: 'rejected', status: 400 },
    { kind: 'too_large' },
    { kind: 'decode', status: 200 },
    { kind: 'redirect', status: 302 },
    { kind: 'html', status: 200 },
    { kind: 'empty', status: 200 },
    { kind: 'network', unsent: true },
  ])('makes no other attempt after %o', (details) => {
    expect(delaysMs(details)).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['0', 0],
    [' 30 ', 30_000],
    ['300', 300_000],
    ['86400', 300_000],
    ['999999999', 300_000],
    ['Mon, 20 May 2024 10:01:00 GMT', 60_000],
    ['Mon, 20 May 2024 09:00:00 GMT', 0],
    ['Mon, 20 May 2124 09:00:00 GMT', 300_000],
    ['', undefined],
    ['soon', undefined],
    [undefined, undefined],
  ])('reads the Retry-After %j', (value, expected) => {
    expect(readRetryAfterMs(value, Date.parse('2024-05-20T10:00:00Z'))).toBe(expected);
  });
});
