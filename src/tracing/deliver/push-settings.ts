import { type Complaint, quote } from '../../domain/complaint.ts';
import { decode, type OtlpEnvironment, type OtlpSettings, readOtlpSettings } from './settings.ts';

/** The settings for pushing metrics, from OpenTelemetry's environment variables. */
export type PushSettings = OtlpSettings & {
  readonly everyMs: number;
  /** True if each push contains only the increase since the previous push. */
  readonly isDelta: boolean;
  /** True if histograms are pushed with native buckets. */
  readonly isExponential: boolean;
  readonly resource: Readonly<Record<string, string>>;
};

const defaultEveryMs = 60_000;

/** Returns undefined if metrics are not pushed. Metrics are not pushed by default, unlike in OpenTelemetry's SDK. */
export function readPushSettings(environment: OtlpEnvironment): PushSettings | undefined | readonly Complaint[] {
  const exporters = (environment['OTEL_METRICS_EXPORTER'] ?? '').split(',').map((word) => word.trim().toLowerCase());
  if (!exporters.includes('otlp')) return undefined;
  const settings = readOtlpSettings(environment, 'metrics');
  const complaints: Complaint[] = 'endpoint' in settings ? [] : [...settings];
  const find = (name: string): string => environment[name]?.trim().toLowerCase() ?? '';

  function choose(name: string, words: readonly [string, ...string[]]): string {
    const word = find(name);
    if (word !== '' && !words.includes(word))
      complaints.push({ place: name, message: `is ${quote(word)}`, hint: `use ${words.join(' or ')}` });
    return word === '' ? words[0] : word;
  }

  const interval = find(intervalVariable);
  const everyMs = interval === '' ? defaultEveryMs : Number(interval);
  if (!/^\d*$/.test(interval) || everyMs < 1000 || everyMs > 3_600_000)
    complaints.push({
      place: intervalVariable,
      message: `is ${quote(interval)}`,
      hint: 'use milliseconds, from 1000 to 3600000',
    });
  const temporality = choose(`${preferences}TEMPORALITY_PREFERENCE`, ['cumulative', 'delta', 'lowmemory']);
  const aggregation = choose(`${preferences}DEFAULT_HISTOGRAM_AGGREGATION`, [
    'explicit_bucket_histogram',
    'base2_exponential_bucket_histogram',
  ]);
  const resource = readResource(environment);
  if (resource === undefined)
    complaints.push({
      place: resourceVariable,
      message: 'has a % that is not followed by two hexadecimal digits',
      hint: 'write name=value,name=value, with commas, equals signs and percent signs as %2C, %3D and %25',
    });
  if (!('endpoint' in settings) || resource === undefined || complaints.length > 0) return complaints;
  return {
    ...settings,
    everyMs,
    isDelta: temporality !== 'cumulative',
    isExponential: aggregation.startsWith('base2'),
    resource,
  };
}

const intervalVariable = 'OTEL_METRIC_EXPORT_INTERVAL';
const preferences = 'OTEL_EXPORTER_OTLP_METRICS_';

const resourceVariable = 'OTEL_RESOURCE_ATTRIBUTES';

/** Returns undefined if a name or value is not percent-encoded. */
function readResource(environment: OtlpEnvironment): Record<string, string> | undefined {
  const resource: Record<string, string> = { 'service.name': 'automation-exporter' };
  for (const pair of (environment[resourceVariable] ?? '').split(',')) {
    const [, name = '', text = ''] = /^\s*([^=]+?)\s*=(.*)$/.exec(pair) ?? [];
    const [decoded, value] = [decode(name), decode(text.trim())];
    if (decoded === undefined || value === undefined) return undefined;
    if (name !== '') resource[decoded] = value;
  }
  const service = environment['OTEL_SERVICE_NAME']?.trim() ?? '';
  return service === '' ? resource : { ...resource, 'service.name': service };
}
