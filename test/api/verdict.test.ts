import { describe, expect, it } from 'vitest';
import { healthcheck } from '../../src/api/endpoints/metrics.ts';
import { systemInfo } from '../../src/api/endpoints/system.ts';
import { ApiError, type ApiErrorDetails } from '../../src/api/errors.ts';
import { isAuthenticatedAnswer, toVerdict } from '../../src/api/verdict.ts';

const fault = (details: Partial<ApiErrorDetails>) =>
  new ApiError('failed', { kind: 'network', apiEndpoint: 'healthcheck', ...details });

describe('api/verdict', () => {
  it.each<[Partial<ApiErrorDetails>, string]>([
    [{ kind: 'forbidden', status: 403 }, 'denied'],
    [{ kind: 'unsupported_version' }, 'version'],
    [{ kind: 'unsupported_version', status: 400 }, 'failed'],
    [{ kind: 'not_found', status: 404, isOfService: true }, 'not_found'],
    [{ kind: 'not_found', status: 404, isOfService: false }, 'failed'],
    [{ kind: 'not_found', status: 404, isOfService: true, apiEndpoint: 'system-info' }, 'failed'],
    [{ kind: 'not_found', status: 404, isOfService: true, apiEndpoint: 'other' }, 'failed'],
    [{ kind: 'unauthorized', status: 401 }, 'failed'],
    [{ kind: 'network' }, 'failed'],
  ])('returns the verdict for %o', (details, verdict) => {
    expect(toVerdict(fault(details), [systemInfo, healthcheck])).toBe(verdict);
  });

  it.each<[Partial<ApiErrorDetails>, boolean]>([
    [{ kind: 'forbidden', status: 403, errorCode: 'api.error.item.unauthorized' }, true],
    [{ kind: 'not_found', status: 404, errorCode: 'api.error.item.doesnotexist' }, true],
    [{ kind: 'rejected', status: 400, errorCode: 'api.error.parameter.invalid' }, true],
    [{ kind: 'forbidden', status: 403 }, false],
    [{ kind: 'unauthorized', status: 403, errorCode: 'unauthorized' }, false],
    [{ kind: 'server', status: 500, errorCode: 'api.error.unknown' }, false],
  ])('determines from %o whether the server accepted the credentials', (details, isAuthenticated) => {
    expect(isAuthenticatedAnswer(fault(details))).toBe(isAuthenticated);
  });
});
