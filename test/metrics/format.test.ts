import { describe, expect, it } from 'vitest';
import { chooseFormat } from '../../src/metrics/format.ts';

describe('metrics/format', () => {
  it.each([
    [undefined, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text'],
    ['application/json', 'text'],
    ['application/openmetrics-text', 'openmetrics'],
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'openmetrics',
    ],
    ['application/openmetrics-text;version=2.0.0,text/plain;version=0.0.4;q=0.5', 'text'],
    ['application/openmetrics-text;q=0.1,text/plain;q=0.9', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
    ['text/plain,application/openmetrics-text', 'text'],
    ['APPLICATION/OPENMETRICS-TEXT; Version=1.0.0', 'openmetrics'],
    ['application/openmetrics-text;q=nonsense', 'text'],
    ['application/openmetrics-text;q=1.5', 'text'],
    ['*/*;q=0.9,text/plain;q=0.1,application/openmetrics-text;q=0.5', 'openmetrics'],
    ['text/plain;q=0,*/*', 'openmetrics'],
    ['text/*;q=0.2,application/*;q=0.3', 'openmetrics'],
    ['application/openmetrics-text;q=0.2,application/*;q=0.9,text/plain;q=0.5', 'text'],
    ['application/openmetrics-text;q=0.9,application/openmetrics-text;version=1.0.0;q=0.1,text/plain;q=0.5', 'text'],
    ['application/openmetrics-text;version=1.0.0;q=0.1,application/openmetrics-text;q=0.9,text/plain;q=0.5', 'text'],
    ['application/openmetrics-text;q=0,text/plain;q=0', 'text'],
    ['application/openmetrics-text;version="1.0.0";q=0.9,text/plain;q=0.5', 'openmetrics'],
    ['text/plain;version=1.0.0,application/openmetrics-text;q=0.1', 'openmetrics'],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
      'openmetrics',
    ],
    [
      'text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=1.0.0;q=0.9',
      'text',
    ],
    [
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'protobuf',
    ],
    [
      'application/openmetrics-text;version=1.0.0;q=0.9,Application/Vnd.Google.Protobuf; encoding="delimited"; proto="io.prometheus.client.MetricFamily";q=0.5',
      'openmetrics',
    ],
    [
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.5,text/plain;q=0.5',
      'text',
    ],
    ['application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text', 'text'],
    ['application/vnd.google.protobuf;proto=other;encoding=delimited', 'text'],
    ['application/vnd.google.protobuf,application/*;q=0.1', 'openmetrics'],
  ] as const)('answers %j with %s', (accept, format) => {
    expect(chooseFormat(accept)).toBe(format);
  });
});
