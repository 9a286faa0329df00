import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { judge } from '../../src/schedule/outcome.ts';

describe('collectors/switched-off', () => {
  // Metrics can be switched off at the server, and the open-source server has no user classes.
  it.each([
    ['healthcheck', 'off'],
    ['ping', 'off'],
    ['app-metrics', 'off'],
    ['threads', 'off'],
    ['user-classes', 'off'],
    ['log-storage-incomplete', 'failed'],
    ['tokens', 'failed'],
    ['users', 'failed'],
    ['acl-policies', 'failed'],
    ['stored-keys', 'failed'],
  ])('reports a 404 for %s as %s', (name, result) => {
    const reads = collectors.find((collector) => collector.name === name)?.reads ?? [];
    const fault = { kind: 'not_found', apiEndpoint: name, status: 404, isOfService: true } as const;
    expect(reads.map((endpoint) => endpoint.name)).toContain(name);
    expect(judge(new ApiError('not there', fault), reads).result).toBe(result);
  });
});
