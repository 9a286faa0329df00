import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ApiError, errorKinds } from '../../src/api/errors.ts';
import { fc } from '../support/property.ts';

const folder = join(import.meta.dirname, '../../src/api/endpoints');

/** Every endpoint of the catalogue, with the words of its file: those that its decoder looks for are among them. */
const endpoints = await Promise.all(
  readdirSync(folder).map(async (file) => {
    // The cast is true: what a module exports is its values by their names.
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

/** Objects that hold these words at every depth, with anything as their values. */
function toBodies(words: readonly string[]) {
  const key = fc.constantFrom(...words, '__proto__', 'constructor', 'toString');
  const value = fc.oneof(
    fc.constantFrom('', '0', '-1', 'true', '2024-05-20T10:13:20Z', 'null', '1e999'),
    fc.jsonValue(),
  );
  return fc.object({ key, maxDepth: 4, maxKeys: 8, values: [value] }).map((body) => JSON.stringify(body));
}

function readKind(endpoint: Endpoint<unknown>, body: string): string {
  try {
    readAnswer(endpoint, { status: 200, headers: {}, cookies: [], body }, { isSession: false, nowMs: 0 });
    return 'answer';
  } catch (error) {
    return error instanceof ApiError ? error.kind : String(error);
  }
}

describe('api/every-decoder', () => {
  it('knows the catalogue', () => {
    expect(endpoints.length).toBeGreaterThan(30);
  });

  it('asks no server for what its version does not have yet', () => {
    const since = endpoints.map(({ endpoint }) => `${endpoint.name} ${JSON.stringify(endpoint.since)}`);
    expect(since.toSorted()).toEqual([
      'acl-policies 14',
      'app-metrics 25',
      'cluster-member-jobs 17',
      'cluster-own-jobs 17',
      'execution 14',
      'execution-mode 32',
      'execution-output 14',
      'execution-state 14',
      'executions-metrics 29',
      'executions-total 29',
      'healthcheck 25',
      'job-definition 44',
      'job-forecast 31',
      'job-info 18',
      'job-workflow {"service":33,"rundeck":34}',
      'log-storage 17',
      'log-storage-incomplete 17',
      'ping 25',
      'project-acl-policies 14',
      'project-disable-executions 14',
      'project-disable-schedule 14',
      'project-executions 14',
      'project-executions-metrics 29',
      'project-jobs 14',
      'project-meta 46',
      'project-nodes 14',
      'projects 14',
      // The same list, with the switches of each project.
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

  it.each(endpoints)('reads any answer to $name, or says by a known kind why it cannot', ({ endpoint, words }) => {
    const body = toBodies(words);
    const texts = fc.oneof(
      body,
      fc.array(body, { maxLength: 3 }).map((parts) => `[${parts.join()}]`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(['answer', ...errorKinds]).toContain(readKind(endpoint, text));
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
