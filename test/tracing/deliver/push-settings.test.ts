import { describe, expect, it } from 'vitest';
import { type PushSettings, readPushSettings } from '../../../src/tracing/deliver/push-settings.ts';

const on = { OTEL_METRICS_EXPORTER: 'otlp' };

function read(environment: Readonly<Record<string, string>>): PushSettings {
  const settings = readPushSettings({ ...on, ...environment });
  if (settings === undefined || !('endpoint' in settings)) throw new Error(JSON.stringify(settings));
  return settings;
}

describe('tracing/deliver/push-settings', () => {
  it('is off unless the list of exporters contains otlp', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example.org:4318' };
    expect(readPushSettings(endpoint)).toBeUndefined();
    expect(readPushSettings({ ...endpoint, OTEL_METRICS_EXPORTER: 'none' })).toBeUndefined();
    expect(readPushSettings({ ...endpoint, OTEL_METRICS_EXPORTER: 'prometheus, otlp' })).toMatchObject({
      endpoint: 'http://collector.example.org:4318/v1/metrics',
    });
  });

  it('prefers the variables for metrics', () => {
    expect(read({})).toMatchObject({
      endpoint: 'http://localhost:4318/v1/metrics',
      everyMs: 60_000,
      isDelta: false,
      isExponential: false,
      resource: { 'service.name': 'automation-exporter' },
    });
    const settings = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://traces.example.org',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.example.org/otlp',
      OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'none',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'Delta',
      OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram',
      OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=a1, team%2Dname = night%2C%20r%C3%A9seau=a%3Db,',
      OTEL_SERVICE_NAME: 'exporter',
    });
    expect(settings).toMatchObject({
      endpoint: 'https://metrics.example.org/otlp',
      compression: 'none',
      protocol: 'http/json',
      everyMs: 5000,
      isDelta: true,
      isExponential: true,
      resource: { 'service.name': 'exporter', 'service.instance.id': 'a1', 'team-name': 'night, réseau=a=b' },
    });
  });

  it('complains about every invalid setting', () => {
    const complaints = readPushSettings({
      ...on,
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc',
      OTEL_METRIC_EXPORT_INTERVAL: '10',
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'both',
      OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'none',
      OTEL_RESOURCE_ATTRIBUTES: 'load=50%',
    });
    expect(complaints).toMatchObject([
      { place: 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL' },
      { place: 'OTEL_METRIC_EXPORT_INTERVAL', message: 'is "10"' },
      { place: 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', message: 'is "both"' },
      { place: 'OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION', message: 'is "none"' },
      { place: 'OTEL_RESOURCE_ATTRIBUTES' },
    ]);
  });
});
