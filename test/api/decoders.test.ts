import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { projectExecutions } from '../../src/api/endpoints/executions.ts';
import { logStorage } from '../../src/api/endpoints/log-storage.ts';
import { healthcheck } from '../../src/api/endpoints/metrics.ts';
import { executionMode, systemInfo } from '../../src/api/endpoints/system.ts';
import { ApiError, errorKinds } from '../../src/api/errors.ts';
import type { TransportAnswer } from '../../src/api/wire/transport.ts';
import { fc } from '../support/property.ts';

const samples = [
  [
    systemInfo,
    '{"system":{"timestamp":{"epoch":1716200000000,"unit":"ms"},"rundeck":{"version":"5.3.0","apiversion":"47"},"executions":{"active":true,"executionMode":"active"},"os":{"arch":"amd64","name":"Linux","version":"6"},"jvm":{"name":"J"},"stats":{"uptime":{"since":{"epoch":1716100000000}},"cpu":{"loadAverage":{"unit":"percent","average":0.5},"processors":4},"memory":{"unit":"byte","max":3,"free":1,"total":2},"scheduler":{"running":0,"threadPoolSize":10},"threads":{"active":30}}}}',
  ],
  [executionMode, '{"executionMode":"active"}'],
  [healthcheck, '{"dataSource.connection.time":{"healthy":true,"message":"ok"},"quartz":{"healthy":false}}'],
  [logStorage, '{"enabled":true,"pluginName":"s3","succeededCount":1,"failedCount":"2","queuedCount":null}'],
  [
    projectExecutions,
    '{"paging":{"count":1,"total":1},"executions":[{"id":1,"status":"failed","date-started":{"unixtime":1,"date":"x"},"date-ended":null,"job":{"name":"n","group":null}}]}',
  ],
] as const;

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
  '[]',
  'null',
  '"',
  '',
);

/** A literal answer with one of its values replaced by any other. */
const mutated = (sample: string) =>
  fc.tuple(fc.nat(), fc.jsonValue()).map(([place, value]) => {
    let count = 0;
    const places = sample.match(/:/g)?.length ?? 1;
    return JSON.stringify(JSON.parse(sample, (_key, old: unknown) => (count++ === place % (places + 1) ? value : old)));
  });

/** `answer`, the kind of the fault, or whatever else was thrown. */
function readKind(endpoint: Endpoint<unknown>, answer: TransportAnswer, isSession: boolean): string {
  try {
    readAnswer(endpoint, answer, { isSession, nowMs: 1_716_200_000_000 });
    return 'answer';
  } catch (error) {
    return error instanceof ApiError ? error.kind : String(error);
  }
}

describe('api/decoders', () => {
  it.each(samples)('reads any answer to $name, or says by a known kind why it cannot', (endpoint, sample) => {
    const body = fc.oneof(mutated(sample), fc.json(), fc.string(), nasty);
    const property = fc.property(status, headers, body, fc.boolean(), (code, received, text, isSession) => {
      const answer = { status: code, headers: received, cookies: [], body: text };
      expect(['answer', ...errorKinds]).toContain(readKind(endpoint, answer, isSession));
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as Record<string, unknown>)['healthy']).toBeUndefined();
    });
    fc.assert(property, { numRuns: 500 });
  });

  it.each(samples)('reads a well-formed answer to $name', (endpoint, body) => {
    const answer = { status: 200, headers: {}, cookies: [], body };
    expect(() => readAnswer<unknown>(endpoint, answer, { isSession: false, nowMs: 0 })).not.toThrow();
  });

  it.each([
    ['deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['wide', `{${Array.from({ length: 100_000 }, (_, place) => `"k${place}":{"a":${place}}`).join(',')}}`],
    ['blank', ' '.repeat(5_000_000)],
    ['of digits', `{"succeededCount":"${'1'.repeat(1_000_000)}x"}`],
  ])('is soon done with an answer that is %s', (_what, body) => {
    for (const [endpoint] of samples) {
      const answer = { status: 200, headers: {}, cookies: [], body };
      expect(['answer', ...errorKinds]).toContain(readKind(endpoint, answer, false));
    }
  });
});
