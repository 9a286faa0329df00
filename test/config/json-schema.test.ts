import { describe, expect, it } from 'vitest';
import { toJsonSchema } from '../../src/config/show/json-schema.ts';
import { collectors, families } from './fixtures.ts';

const schema = toJsonSchema(collectors, families);

/** The part of the schema at a path. */
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
  it('has every section and nothing else', () => {
    expect(at('$schema')).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(at('additionalProperties')).toBe(false);
    expect(keysOf(at('properties'))).toEqual([
      'servers',
      'collectors',
      'web',
      'jobs',
      'executions',
      'schedule',
      'traces',
      'metrics',
      'log',
      'state',
    ]);
    expect(keysOf(at('properties/collectors/properties'))).toEqual(['execution-mode', 'system-info', 'project-nodes']);
  });

  it('describes a server', () => {
    expect(at('properties/servers/items')).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['url'],
      properties: {
        name: {
          description: 'Unique name of the server in labels and on pages.',
          type: 'string',
          pattern: '^[A-Za-z0-9_.:-]{1,64}$',
          default: 'default',
          examples: ['prod', 'eu-1'],
        },
        url: {
          description: 'URL of the server, without /api.',
          type: 'string',
          pattern: '^[hH][tT][tT][pP][sS]?://[^@?#]+$',
          examples: ['https://automation.example.org'],
        },
        token_file: {
          description: 'File with the API token.',
          type: 'string',
          pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
          examples: ['/run/secrets/automation-token'],
        },
        username: {
          description: 'User to log in as, for servers without an API token.',
          type: 'string',
          pattern: '^[\\x21-\\x7e\\u00a1-\\uffff]([\\x20-\\x7e\\u00a0-\\uffff]{0,254}[\\x21-\\x7e\\u00a1-\\uffff])?$',
          examples: ['exporter'],
        },
        password_file: {
          description: 'File with the password of the user.',
          type: 'string',
          pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
          examples: ['/run/secrets/automation-password'],
        },
        bearer_token_file: {
          description: 'File with a bearer token of an identity provider.',
          type: 'string',
          pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
          examples: ['/run/secrets/automation-token'],
        },
        dialect: {
          description: 'Names of the HTTP headers; auto detects them on first contact.',
          type: 'string',
          enum: ['auto', 'service', 'rundeck'],
          default: 'auto',
        },
        api_version: {
          description: 'API version to use; auto selects the newest that both sides support.',
          anyOf: [
            { type: 'string', const: 'auto' },
            { type: 'integer', minimum: 14, maximum: 99 },
          ],
          default: 'auto',
        },
        timeout: {
          description: 'Timeout of a request, including its response.',
          type: 'string',
          pattern: '^(\\d+w)?(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$',
          default: '10s',
          examples: ['15s', '1h30m'],
        },
        tls: {
          type: 'object',
          additionalProperties: false,
          properties: {
            ca_file: {
              description: 'File with certificate authorities to trust in addition to those of the system.',
              type: 'string',
              pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
              examples: ['/etc/ssl/private/automation.pem'],
            },
            cert_file: {
              description: 'File with the client certificate.',
              type: 'string',
              pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
              examples: ['/etc/ssl/private/automation.pem'],
            },
            key_file: {
              description: 'File with the private key of the client certificate.',
              type: 'string',
              pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
              examples: ['/etc/ssl/private/automation.pem'],
            },
            server_name: {
              description: 'Expected name in the certificate of the server.',
              type: 'string',
              pattern: '^(?!\\d+(\\.\\d+){3}$)[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?$',
              examples: ['automation.example.org'],
            },
            insecure_skip_verify: {
              description:
                'Disable certificate validation; anyone between exporter and server can then read and change the traffic.',
              type: 'boolean',
              default: false,
            },
          },
        },
        proxy_url: {
          description: 'URL of the proxy to use for the server.',
          type: 'string',
          pattern: '^[hH][tT][tT][pP][sS]?://[^@?#]+$',
          examples: ['http://forward.example.org:3128'],
        },
        namespace: {
          description:
            'Text from which trace ids are computed; defaults to the url. Set it to keep the ids when the url changes.',
          type: 'string',
          pattern: '^[\\x21-\\x7e\\u00a1-\\uffff]([\\x20-\\x7e\\u00a1-\\uffff]{0,254}[\\x21-\\x7e\\u00a1-\\uffff])?$',
          examples: ['https://automation.example.org'],
        },
        budget: {
          type: 'object',
          additionalProperties: false,
          properties: {
            requests_per_second: {
              description: 'Maximum number of requests per second.',
              type: 'number',
              minimum: 0.1,
              maximum: 1000,
              default: 10,
            },
            concurrency: {
              description: 'Maximum number of simultaneous requests.',
              type: 'integer',
              minimum: 1,
              maximum: 100,
              default: 4,
            },
          },
        },
        labels: {
          description: 'Labels for every series of this server; in the environment variable, as site=eu,tier=1.',
          type: 'object',
          maxProperties: 20,
          propertyNames: { pattern: '^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$' },
          additionalProperties: { type: 'string', minLength: 1, maxLength: 200 },
          default: {},
        },
        projects: {
          type: 'object',
          additionalProperties: false,
          properties: {
            include: {
              description: 'Patterns of projects to watch; all if empty.',
              type: 'array',
              maxItems: 100,
              items: { type: 'string', minLength: 1, maxLength: 200 },
              default: ['.*'],
            },
            exclude: {
              description: 'Patterns of projects not to watch; takes precedence over include.',
              type: 'array',
              maxItems: 100,
              items: { type: 'string', minLength: 1, maxLength: 200 },
              default: [],
            },
            labels: {
              description:
                'Labels on automation_project_info for projects that match a pattern; in the environment variable, as JSON.',
              type: 'array',
              items: {
                type: 'object',
                additionalProperties: false,
                required: ['match', 'labels'],
                properties: {
                  match: { type: 'string', minLength: 1, maxLength: 200 },
                  labels: {
                    type: 'object',
                    maxProperties: 20,
                    propertyNames: { pattern: '^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$' },
                    additionalProperties: { type: 'string', minLength: 1, maxLength: 200 },
                  },
                },
              },
              default: [],
            },
          },
        },
        members: {
          description:
            'Members of the cluster, polled individually for metrics that differ by member; in the environment variable, as JSON.',
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['name', 'url'],
            properties: {
              name: { type: 'string', pattern: '^[A-Za-z0-9_.:-]{1,64}$' },
              url: { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?://[^@?#]+$' },
            },
          },
          default: [],
        },
      },
    });
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
      anyOf: [{ required: ['success_age'] }, { required: ['overdue_factor'] }, { required: ['critical'] }],
    });
    expect(Object.keys(properties)).toEqual(['match', 'success_age', 'overdue_factor', 'critical']);
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
    expect(at('$defs/family')).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: {
        off: { description: 'Do not expose the metric family.', type: 'boolean', default: false },
        drop_labels: {
          description: 'Labels to drop; series that become identical are merged.',
          type: 'array',
          items: { type: 'string' },
          default: [],
        },
        buckets: {
          description: 'Upper bounds of histogram buckets, in ascending order.',
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: { type: 'number', exclusiveMinimum: 0 },
        },
      },
    });
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
