import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { formatComplaint } from '../../../src/domain/complaint.ts';
import { secretsOf } from '../../../src/tracing/deliver/secrets.ts';
import { readOtlpSettings } from '../../../src/tracing/deliver/settings.ts';

type Environment = Readonly<Record<string, string>>;

const general = 'OTEL_EXPORTER_OTLP_';
const traces = 'OTEL_EXPORTER_OTLP_TRACES_';

describe('tracing/deliver/settings', () => {
  it('sends compressed protobuf to a collector on this machine by default', () => {
    expect(readOtlpSettings({})).toEqual({
      isConfigured: false,
      endpoint: 'http://localhost:4318/v1/traces',
      protocol: 'http/protobuf',
      compression: 'gzip',
      timeoutMs: 10_000,
      headers: [],
      files: {},
    });
  });

  it.each<[string, Environment, object]>([
    [
      'general endpoint',
      { [`${general}ENDPOINT`]: 'https://c.example.org' },
      { endpoint: 'https://c.example.org/v1/traces' },
    ],
    [
      'general endpoint, slash at its end',
      { [`${general}ENDPOINT`]: 'http://c.example.org:4318/' },
      { endpoint: 'http://c.example.org:4318/v1/traces' },
    ],
    [
      'general endpoint with a path',
      { [`${general}ENDPOINT`]: 'http://c.example.org/otlp' },
      { endpoint: 'http://c.example.org/otlp/v1/traces' },
    ],
    [
      'general endpoint with a query',
      { [`${general}ENDPOINT`]: 'http://c.example.org/otlp/?tenant=a' },
      { endpoint: 'http://c.example.org/otlp/v1/traces?tenant=a' },
    ],
    [
      'endpoint for traces, as it is',
      { [`${traces}ENDPOINT`]: 'http://c.example.org/in/' },
      { endpoint: 'http://c.example.org/in/' },
    ],
    [
      'endpoint for traces without a path',
      { [`${traces}ENDPOINT`]: 'http://c.example.org' },
      { endpoint: 'http://c.example.org/' },
    ],
    [
      'both endpoints',
      { [`${general}ENDPOINT`]: 'http://a.example.org', [`${traces}ENDPOINT`]: 'http://b.example.org/v1/traces' },
      { endpoint: 'http://b.example.org/v1/traces', isConfigured: true },
    ],
    [
      'an empty endpoint for traces',
      { [`${general}ENDPOINT`]: 'http://a.example.org', [`${traces}ENDPOINT`]: '' },
      { endpoint: 'http://a.example.org/v1/traces' },
    ],
    [
      'an empty endpoint',
      { [`${general}ENDPOINT`]: '  ' },
      { endpoint: 'http://localhost:4318/v1/traces', isConfigured: false },
    ],
    ['protocol', { [`${general}PROTOCOL`]: 'http/json' }, { protocol: 'http/json' }],
    [
      'protocol for traces',
      { [`${general}PROTOCOL`]: 'grpc', [`${traces}PROTOCOL`]: 'HTTP/protobuf' },
      { protocol: 'http/protobuf' },
    ],
    ['compression', { [`${general}COMPRESSION`]: 'none' }, { compression: 'none' }],
    [
      'compression for traces',
      { [`${general}COMPRESSION`]: 'none', [`${traces}COMPRESSION`]: 'gzip' },
      { compression: 'gzip' },
    ],
    ['timeout', { [`${general}TIMEOUT`]: '2500' }, { timeoutMs: 2500 }],
    ['shortest timeout', { [`${general}TIMEOUT`]: '1' }, { timeoutMs: 1 }],
    ['timeout for traces', { [`${general}TIMEOUT`]: '2500', [`${traces}TIMEOUT`]: '100' }, { timeoutMs: 100 }],
    [
      'files',
      {
        [`${general}CERTIFICATE`]: '/etc/ca.pem',
        [`${general}CLIENT_CERTIFICATE`]: '/etc/c.pem',
        [`${general}CLIENT_KEY`]: '/etc/c.key',
      },
      { files: { ca: '/etc/ca.pem', cert: '/etc/c.pem', key: '/etc/c.key' } },
    ],
    [
      'files for traces',
      { [`${general}CERTIFICATE`]: '/etc/ca.pem', [`${traces}CERTIFICATE`]: '/etc/t.pem' },
      { files: { ca: '/etc/t.pem' } },
    ],
    [
      'insecure, which is only for gRPC',
      { [`${general}INSECURE`]: 'perhaps', [`${traces}INSECURE`]: 'true' },
      { isConfigured: false },
    ],
  ])('reads the %s', (_, environment, expected) => {
    expect(readOtlpSettings(environment)).toMatchObject(expected);
  });

  it.each<[string, Environment, readonly string[]]>([
    ['one', { [`${general}HEADERS`]: 'api-key=abc' }, ['api-key: abc']],
    ['several, spaces around', { [`${general}HEADERS`]: ' A = 1 , b=2,, ' }, ['a: 1', 'b: 2']],
    ['percent-encoded', { [`${general}HEADERS`]: 'Authorization=Bearer%20a%2Cb%3D' }, ['authorization: Bearer a,b=']],
    ['a value with =', { [`${general}HEADERS`]: 'authorization=Basic dXNlcg==' }, ['authorization: Basic dXNlcg==']],
    ['a plus as it is', { [`${general}HEADERS`]: 'k=a+b' }, ['k: a+b']],
    ['the last of two', { [`${general}HEADERS`]: 'k=1,K=2' }, ['k: 2']],
    [
      'both forms, that for traces first in rank',
      { [`${general}HEADERS`]: 'k=1,tenant=a', [`${traces}HEADERS`]: 'K=2' },
      ['k: 2', 'tenant: a'],
    ],
    ['none', { [`${general}HEADERS`]: '' }, []],
  ])('reads headers: %s', (_, environment, expected) => {
    const settings = readOtlpSettings(environment);
    const headers = 'headers' in settings ? settings.headers : [];
    expect(headers.map(({ name, value }) => `${name}: ${value.reveal()}`)).toEqual(expected);
  });

  it('never shows the value of a header', () => {
    const settings = readOtlpSettings({ [`${general}HEADERS`]: 'api-key=canary-4711' });
    expect(inspect(settings, { depth: 9 }) + JSON.stringify(settings)).not.toContain('canary');
  });

  it('lists the secrets to remove from all texts', () => {
    const headers = 'authorization=Bearer%20canary,api-key=abc%20def,tenant=eu1';
    const settings = readOtlpSettings({ [`${general}HEADERS`]: headers });
    expect('headers' in settings && secretsOf(settings)).toEqual(['Bearer canary', 'canary', 'abc def']);
  });

  it('treats values in the query of an endpoint as secrets', () => {
    const endpoint = 'https://otlp.example.org/v1/traces?tenant=prod&key=canary%2F0123456789&x';
    const settings = readOtlpSettings({ [`${traces}ENDPOINT`]: endpoint });
    expect('headers' in settings && secretsOf(settings)).toEqual([
      'tenant=prod',
      'key=canary%2F0123456789',
      'canary/0123456789',
    ]);
  });

  it.each<[string, string, string]>([
    [
      'PROTOCOL',
      'grpc',
      'is grpc, which this exporter does not support (use http/protobuf or http/json; collectors listen for these on port 4318)',
    ],
    ['PROTOCOL', 'thrift', 'is "thrift" (use http/protobuf or http/json)'],
    ['COMPRESSION', 'zstd', 'is "zstd" (use gzip or none)'],
    ['TIMEOUT', '10s', 'is "10s" (use milliseconds, from 1 to 600000)'],
    ['TIMEOUT', '0', 'is "0" (use milliseconds, from 1 to 600000)'],
    ['TIMEOUT', '-5', 'is "-5" (use milliseconds, from 1 to 600000)'],
    ['ENDPOINT', 'collector', 'is not a URL (write it like http://localhost:4318)'],
    [
      'ENDPOINT',
      'collector:4317',
      'has the scheme "collector", not http or https (write it like http://localhost:4318)',
    ],
    [
      'ENDPOINT',
      'http://user:canary@c.example.org',
      'contains a user or a password (give credentials as a header in OTEL_EXPORTER_OTLP_HEADERS)',
    ],
    [
      'HEADERS',
      'a=1,canary',
      'entry 2 has no = (write name=value,name=value, with commas and spaces of values as %2C and %20)',
    ],
    [
      'HEADERS',
      'a b=canary',
      'entry 1 has a name that is not a valid header name (write name=value,name=value, with commas and spaces of values as %2C and %20)',
    ],
    [
      'HEADERS',
      'a=canary%0D%0Ax',
      'entry 1 has a value with a character that is not allowed in a header (write name=value,name=value, with commas and spaces of values as %2C and %20)',
    ],
    [
      'HEADERS',
      'a=%zz',
      'entry 1 has a % that is not followed by two hexadecimal digits (write name=value,name=value, with commas and spaces of values as %2C and %20)',
    ],
    [
      'HEADERS',
      'content-type=text/plain',
      "entry 1 sets content-type, which is the exporter's own (write name=value,name=value, with commas and spaces of values as %2C and %20)",
    ],
    [
      'CLIENT_KEY',
      '/etc/c.key',
      'is set alone: a certificate and its key belong together (set OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE too)',
    ],
    [
      'CLIENT_CERTIFICATE',
      '/etc/c.pem',
      'is set alone: a certificate and its key belong together (set OTEL_EXPORTER_OTLP_CLIENT_KEY too)',
    ],
  ])('complains about %s = %s', (option, value, complaint) => {
    expect(complaintsOf({ [`${general}${option}`]: value })).toEqual([`${general}${option}: ${complaint}`]);
  });

  it('reports all complaints together', () => {
    const environment = { [`${traces}ENDPOINT`]: 'x', [`${general}TIMEOUT`]: 'y', [`${traces}HEADERS`]: 'z' };
    expect(complaintsOf(environment)).toEqual([
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: is not a URL (write it like http://localhost:4318/v1/traces)',
      'OTEL_EXPORTER_OTLP_TIMEOUT: is "y" (use milliseconds, from 1 to 600000)',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS: entry 1 has no = (write name=value,name=value, with commas and spaces of values as %2C and %20)',
    ]);
  });
});

describe('tracing/deliver/settings: log records', () => {
  it('prefers the variables for logs to the general variables', () => {
    const environment = {
      [`${general}ENDPOINT`]: 'http://c.example.org/otlp',
      [`${traces}ENDPOINT`]: 'http://t.example.org/',
      [`${traces}TIMEOUT`]: '1',
      [`${general}LOGS_HEADERS`]: 'tenant=logs',
      [`${general}HEADERS`]: 'tenant=all,a=1',
    };
    const read = readOtlpSettings(environment, 'logs');
    expect(read).toMatchObject({ endpoint: 'http://c.example.org/otlp/v1/logs', timeoutMs: 10_000 });
    const headers = 'endpoint' in read ? read.headers.map(({ name, value }) => `${name}: ${value.reveal()}`) : [];
    expect(headers).toEqual(['tenant: logs', 'a: 1']);
    const own = { ...environment, [`${general}LOGS_ENDPOINT`]: 'http://l.example.org/otlp/v1/logs' };
    expect(readOtlpSettings(own, 'logs')).toMatchObject({ endpoint: 'http://l.example.org/otlp/v1/logs' });
  });

  it('names the variable for logs in a complaint', () => {
    const read = readOtlpSettings({ [`${general}LOGS_PROTOCOL`]: 'grpc' }, 'logs');
    expect('endpoint' in read ? [] : read.map(({ place }) => place)).toEqual(['OTEL_EXPORTER_OTLP_LOGS_PROTOCOL']);
  });
});

function complaintsOf(environment: Environment): readonly string[] {
  const read = readOtlpSettings(environment);
  return 'endpoint' in read ? [] : read.map(formatComplaint);
}
