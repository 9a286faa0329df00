import { describe, expect, it } from 'vitest';
import { toJsonSchema } from '../../src/config/show/json-schema.ts';
import { collectors, families } from './fixtures.ts';

const schema = toJsonSchema(collectors, families);

function at(path: string): unknown {
  let part: unknown = schema;
  for (const key of path.split('/'))
    part = typeof part === 'object' && part !== null ? Reflect.get(part, key) : undefined;
  return part;
}

function keysOf(part: unknown): string[] {
  return typeof part === 'object' && part !== null ? Object.keys(part) : [];
}

describe('config/json-schema', () => {
  it('has every section, and no other key', () => {
    expect(at('$schema')).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(at('additionalProperties')).toBe(false);
    expect(keysOf(at('properties'))).toEqual([
      'servers',
      'collectors',
      'web',
      'jobs',
      'executions',
      'schedule',
      'diagnosis',
      'alerts',
      'traces',
      'metrics',
      'log',
      'state',
    ]);
    expect(keysOf(at('properties/collectors/properties'))).toEqual(['execution-mode', 'system-info', 'project-nodes']);
  });

  it('accepts true and false for on and off', () => {
    expect(at('properties/traces/properties/enabled')).toMatchObject({
      type: ['string', 'boolean'],
      enum: ['auto', 'on', 'pages', 'off', true, false],
      default: 'auto',
    });
  });

  it('requires an override to have a setting', () => {
    const { pattern, ...ages } = at('properties/jobs/properties/overrides/items/properties/success_age') as {
      readonly pattern: string;
    };
    expect(ages).toEqual({ type: 'string' });
    expect('26h').toMatch(new RegExp(pattern));
    const { properties, ...items } = at('properties/jobs/properties/overrides/items') as {
      readonly properties: object;
    };
    expect(items).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['match'],
      anyOf: ['success_age', 'overdue_factor', 'critical', 'owner', 'note', 'runbook'].map((key) => ({
        required: [key],
      })),
    });
    expect(Object.keys(properties)).toEqual([
      'match',
      'success_age',
      'overdue_factor',
      'critical',
      'owner',
      'note',
      'runbook',
    ]);
  });

  it('has the options of every metric family', () => {
    expect(keysOf(at('properties/metrics/properties'))).toEqual([
      'hold_new_series',
      'cicd',
      'automation_server_info',
      'automation_execution_mode',
      'automation_project_nodes',
      'automation_execution_duration_seconds',
      'automation_projects',
      'cicd_pipeline_run_duration_seconds',
    ]);
    expect(at('properties/metrics/additionalProperties')).toBe(false);
    expect(at('properties/metrics/properties/automation_projects')).toEqual({ $ref: '#/$defs/family' });
  });

  it('gives a collector its own defaults', () => {
    expect(at('properties/collectors/properties/project-nodes/properties/enabled')).toEqual({
      description: 'Nodes of each project.',
      type: 'boolean',
      default: false,
    });
    expect(at('properties/collectors/properties/project-nodes/properties/every/default')).toBe('5m');
  });

  it.each(['servers/items', 'servers/items/properties/tls', 'web', 'log', 'state'])(
    'has patterns in %s that accept their examples and defaults',
    (section) => {
      for (const key of keysOf(at(`properties/${section}/properties`))) {
        const leaf = `properties/${section}/properties/${key}`;
        const pattern = at(`${leaf}/pattern`);
        const examples = [at(`${leaf}/examples`) ?? [], at(`${leaf}/default`) ?? []].flat();
        for (const example of typeof pattern === 'string' ? examples : []) {
          expect(example).toMatch(new RegExp(String(pattern), 'u'));
        }
      }
    },
  );
});
