import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { errorKinds } from '../../src/api/errors.ts';
import { fc } from '../support/property.ts';
import { readKind, samples } from './decoder-samples.ts';

const folder = join(import.meta.dirname, '../../src/api/endpoints');

/** All endpoints of the catalogue with the words of their files; these words include every key that the decoder reads. */
const endpoints = await Promise.all(
  readdirSync(folder).map(async (file) => {
    // This cast is safe: a module exports values by their names.
    const found = (await import(join(folder, file))) as Readonly<Record<string, unknown>>;
    const words = [...new Set(readFileSync(join(folder, file), 'utf8').match(/[A-Za-z_][\w-]*/g))];
    return Object.values(found).flatMap((value) =>
      isEndpoint(value) ? [{ name: value.name, endpoint: value, words }] : [],
    );
  }),
).then((all) => all.flat());

function isEndpoint(value: unknown): value is Endpoint<unknown> {
  return typeof value === 'object' && value !== null && 'body' in value && 'path' in value && 'name' in value;
}

/** Objects that contain these words at every depth, with any values. */
function toBodies(words: readonly string[]) {
  const key = fc.constantFrom(...words, '__proto__', 'constructor', 'toString');
  const value = fc.oneof(
    fc.constantFrom('', '0', '-1', 'true', '2024-05-20T10:13:20Z', 'null', '1e999'),
    fc.jsonValue(),
  );
  return fc.object({ key, maxDepth: 4, maxKeys: 8, values: [value] }).map((body) => JSON.stringify(body));
}

const status = fc.oneof(
  fc.constantFrom(200, 302, 400, 401, 403, 404, 429, 500, 501, 503),
  fc.integer({ min: 100, max: 599 }),
);
const headers = fc.dictionary(
  fc.constantFrom('content-type', 'location', 'retry-after'),
  fc.oneof(fc.string(), fc.constantFrom('text/html', 'http://h/user/login', '7')),
);
const nasty = fc.constantFrom(
  '{"__proto__":{"healthy":true}}',
  '{"constructor":{"prototype":1}}',
  '{"steps":[{"nodeStates":{"__proto__":{"x":1}}}]}',
  '{"workflow":[null]}',
  '[]',
  'null',
  '"',
  '',
);

/** A well-formed response in which any other value replaces one of the values. */
const mutated = (sample: string) =>
  fc.tuple(fc.nat(), fc.jsonValue()).map(([place, value]) => {
    let count = 0;
    const places = sample.match(/:/g)?.length ?? 1;
    return JSON.stringify(JSON.parse(sample, (_key, old: unknown) => (count++ === place % (places + 1) ? value : old)));
  });

describe('api/every-decoder', () => {
  it('covers all endpoints of the catalogue', () => {
    expect(endpoints.length).toBeGreaterThan(30);
  });

  it('does not request endpoints that a server version lacks', () => {
    const since = endpoints.map(({ endpoint }) => `${endpoint.name} ${JSON.stringify(endpoint.since)}`);
    expect(since.toSorted()).toEqual([
      'acl-policies 14',
      'app-metrics 25',
      'authorizations-job 14',
      'authorizations-of-project 14',
      'authorizations-project 14',
      'authorizations-system 14',
      'cluster-member-jobs 17',
      'cluster-own-jobs 17',
      'execution 14',
      'execution-mode 32',
      'execution-output 14',
      'execution-state 14',
      'executions-metrics {"service":29,"rundeck":36}',
      'executions-total 29',
      'healthcheck 25',
      'job-definition 44',
      'job-forecast 31',
      'job-info 18',
      'job-sections 14',
      'job-workflow {"service":33,"rundeck":34}',
      'log-storage 17',
      'log-storage-incomplete 17',
      'ping 25',
      'plugin-list 33',
      'project-acl-policies 14',
      'project-disable-executions 14',
      'project-disable-schedule 14',
      'project-executions 14',
      'project-executions-metrics {"service":29,"rundeck":36}',
      'project-jobs 14',
      'project-meta 46',
      'project-nodes 14',
      'projects 14',
      // The endpoint returns the same list, with the switches of projects.
      'projects 47',
      'running-executions 14',
      'stored-keys 11',
      'stored-keys-folder 11',
      'system-info 14',
      'threads 25',
      'tokens 19',
      'user-classes 41',
      'users 27',
    ]);
  });

  it.each(endpoints)('decodes any response to $name, or fails with a known kind of error', ({ endpoint, words }) => {
    const body = toBodies(words);
    const texts = fc.oneof(
      body,
      fc.array(body, { maxLength: 3 }).map((parts) => `[${parts.join()}]`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(['answer', ...errorKinds]).toContain(readKind(endpoint, { body: text }));
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it.each(samples)('decodes any response to $name, or fails with a known kind of error', (endpoint, sample) => {
    const body = fc.oneof(mutated(sample), fc.json(), fc.string(), nasty);
    const property = fc.property(status, headers, body, fc.boolean(), (code, received, text, isSession) => {
      const answer = { status: code, headers: received, body: text };
      expect(['answer', ...errorKinds]).toContain(readKind(endpoint, answer, { isSession, nowMs: 1_716_200_000_000 }));
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as Record<string, unknown>)['healthy']).toBeUndefined();
    });
    fc.assert(property, { numRuns: 300 });
  });

  it.each(samples)('decodes a well-formed response to $name', (endpoint, body) => {
    expect(readKind(endpoint, { body })).toBe('answer');
  });

  it.each([
    ['deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['wide', `{${Array.from({ length: 100_000 }, (_, place) => `"k${place}":{"a":${place}}`).join(',')}}`],
    ['blank', ' '.repeat(5_000_000)],
    ['of digits', `{"succeededCount":"${'1'.repeat(1_000_000)}x"}`],
  ])('is fast on a response that is %s', (_what, body) => {
    for (const [endpoint] of samples) expect(['answer', ...errorKinds]).toContain(readKind(endpoint, { body }));
  });
});
