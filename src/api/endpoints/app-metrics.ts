import { z } from 'zod';
import { defineEndpoint, systemRead } from '../endpoint.ts';

/** The name of an application metric, and the project that was part of it. */
type AppName = { name: string; project: string };
type AppValue = AppName & { readonly value: number };
type AppSummary = AppName & {
  readonly count: number;
  readonly quantiles: readonly (readonly [quantile: number, value: number])[];
};
type AppMetrics = {
  readonly gauges: readonly AppValue[];
  readonly counters: readonly AppValue[];
  readonly meters: readonly AppValue[];
  /** The timers, in seconds. */
  readonly timers: readonly AppSummary[];
  readonly histograms: readonly AppSummary[];
};

const entries = z.record(z.string(), z.unknown()).nullish();

/** API reference, "Metrics data": counters and timers of the application. Rates, means and extremes are not decoded. */
export const appMetrics = defineEndpoint({
  name: 'app-metrics',
  path: 'metrics/metrics',
  since: 25,
  mayBeOff: true,
  allowedBy: systemRead,
  body: z
    .object({ gauges: entries, counters: entries, meters: entries, timers: entries, histograms: entries })
    .transform((kinds, context): AppMetrics => {
      const { gauges, counters, meters, timers, histograms } = kinds;
      if (Object.values(kinds).every((kind) => kind === undefined)) context.addIssue('contains no metrics');
      return {
        gauges: read(gauges, (fields) => withValue(fields.value)),
        counters: read(counters, (fields) => withValue(fields.count)),
        meters: read(meters, (fields) => withValue(fields.count)),
        timers: read(timers, (fields) => toSummary(fields, perSecond.get(fields.duration_units))),
        histograms: read(histograms, (fields) => toSummary(fields, 1)),
      };
    }),
});

type Fields = Readonly<Record<string, unknown>>;

function read<Value extends object>(
  kind: z.output<typeof entries>,
  toValue: (fields: Fields) => Value | undefined,
): (AppName & Value)[] {
  return Object.entries(kind ?? {}).flatMap(([name, entry]) => {
    // This cast is safe: any object can be read by name, and absent names read as undefined.
    const value = typeof entry === 'object' && entry !== null ? toValue(entry as Fields) : undefined;
    return value === undefined ? [] : [{ ...toName(name), ...value }];
  });
}

/** Splits the only metric name that contains a project. The name of a project may contain dots. */
function toName(name: string): AppName {
  const [, before, project, after] = /^(.*\.NodeService\.project)\.(.+)\.([^.]+)$/.exec(name) ?? [];
  return project === undefined ? { name, project: '' } : { name: `${before}.${after}`, project };
}

/** Returns the value of a gauge. The value may be null or text, or an error may replace it. */
function withValue(value: unknown): { value: number } | undefined {
  return isNumber(value) ? { value } : undefined;
}

/** The divisor for the unit of a timer. Release 6 uses nanoseconds, other releases use seconds. */
const perSecond: ReadonlyMap<unknown, number> = new Map([
  ['seconds', 1],
  ['milliseconds', 1e3],
  ['microseconds', 1e6],
  ['nanoseconds', 1e9],
]);

const quantiles = [
  ['p50', 0.5],
  // Histograms of release 6 name the quantile 0.5 `median`.
  ['median', 0.5],
  ['p75', 0.75],
  ['p95', 0.95],
  ['p98', 0.98],
  ['p99', 0.99],
  ['p999', 0.999],
] as const;

/** Returns the count, and the quantiles if anything was counted in a known unit. */
function toSummary(fields: Fields, divisor: number | undefined): Omit<AppSummary, keyof AppName> | undefined {
  const { count } = fields;
  if (!isNumber(count)) return undefined;
  if (count === 0 || divisor === undefined) return { count, quantiles: [] };
  const known = quantiles.flatMap(([field, quantile]) => {
    const value = fields[field];
    return isNumber(value) ? [[quantile, value / divisor] as const] : [];
  });
  return { count, quantiles: known };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
