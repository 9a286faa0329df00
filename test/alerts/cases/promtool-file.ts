import type { Case, Shape } from './case.ts';

/** Further events, such as restarts of exporters. */
type Weather = (typeof weathers)[number];

export const weathers = ['fair', 'below', 'restart and scrape gap', 'counter reset', 'two exporters'] as const;

/** Reports whether a reset of counters can affect a case. */
export function isExposed({ series }: Case, weather: Weather): boolean {
  return weather !== 'counter reset' || Object.values(series).some((shape) => 'calmPerMinute' in shape);
}

export function toPromtoolTest(each: Case, weather: Weather): object {
  const times = toTimes(each);
  const { alert, labels, summary, description, dashboard, page, minuteIs = 1 } = each;
  return {
    name: `${alert}: ${weather}`,
    interval: toInterval(each),
    input_series: toSeries(each, weather, times),
    promql_expr_test: toChecks(each, weather, times).map(([minutes, alerts]) => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
      eval_time: toDuration(minutes * minuteIs),
      exp_samples: [{ labels: '{}', value: alerts }],
    })),
    ...(weather === 'fair'
      ? {
          alert_rule_test: [
            {
              eval_time: toDuration(times.firesAt * minuteIs),
              alertname: alert,
              exp_alerts: [
                {
                  exp_labels: labels,
                  exp_annotations: {
                    summary,
                    description,
                    runbook_url: `http://localhost:9720/runbooks/${alert}`,
                    dashboard_url: `http://localhost:3000${dashboard}`,
                    ...(page === undefined ? {} : { page_url: `http://localhost:9720${page}` }),
                  },
                },
              ],
            },
          ],
        }
      : {}),
  };
}

/** The time between samples, and between evaluations of rules. */
export function toInterval({ minuteIs = 1 }: Case): string {
  return toDuration(minuteIs / 2);
}

/** Minutes from the start of the test. */
interface Times {
  readonly beginsAt: number;
  readonly firesAt: number;
  readonly endsAt: number;
  readonly isOverAt: number;
}

function toTimes({ calmMinutes = 10, lastsMinutes = 20, firesAfter, resolvesAfter = 0 }: Case): Times {
  const endsAt = calmMinutes + Math.max(lastsMinutes, firesAfter + 6);
  return { beginsAt: calmMinutes, firesAt: calmMinutes + firesAfter, endsAt, isOverAt: endsAt + resolvesAfter };
}

/** Minutes, with the number of alerts that must fire then. */
function toChecks({ perExporter }: Case, weather: Weather, times: Times): [number, number][] {
  const { beginsAt, firesAt, endsAt, isOverAt } = times;
  const firing = weather === 'below' ? 0 : perExporter && weather === 'two exporters' ? 2 : 1;
  return [
    [beginsAt - 0.5, 0],
    [firesAt - 0.5, 0],
    [firesAt, firing],
    [firesAt + 2, firing],
    [firesAt + 3, firing],
    [firesAt + 5, firing],
    [endsAt - 0.5, firing],
    [isOverAt, 0],
  ];
}

function toSeries(each: Case, weather: Weather, times: Times): object[] {
  const shapes = weather === 'below' ? { ...each.series, ...each.below } : each.series;
  return Object.entries(shapes).flatMap(([series, shape]) => {
    const values = toValues(series, shape, weather, times);
    const names = weather === 'two exporters' ? toReplicas(series) : [series];
    return names.map((name) => ({ series: name, values }));
  });
}

/** Writes a series for two exporters, unless the series has a label `instance`. */
function toReplicas(series: string): string[] {
  if (series.includes('instance=')) return [series];
  const [name, labels = '}'] = series.split('{');
  return ['a', 'b'].map((each) => `${name}{instance="${each}:9720"${labels === '}' ? '' : ','}${labels}`);
}

/** A sample every half minute. */
function toValues(series: string, shape: Shape, weather: Weather, times: Times): string {
  const samples: string[] = [];
  let count = 1;
  for (let atMinutes = 0; atMinutes <= times.isOverAt + 2; atMinutes += 0.5) {
    const badFor = atMinutes < times.endsAt ? atMinutes - times.beginsAt : -1;
    if ('calmPerMinute' in shape) {
      if (weather === 'counter reset' && series.includes('_total') && isReset(atMinutes, times)) count = 0;
      const isBad = badFor >= 0 && badFor % (shape.ofMinutes ?? 0.5) === 0;
      count += (isBad ? shape.badPerMinute : shape.calmPerMinute) / 2;
    }
    const hidden = series.startsWith('up{') ? undefined : hide(weather, atMinutes, times);
    samples.push(hidden ?? toSample(shape, badFor, count));
  }
  return samples.join(' ');
}

function toSample(shape: Shape, badFor: number, count: number): string {
  if ('calmPerMinute' in shape) return String(count);
  const { calm, bad, firstMinutes = Number.POSITIVE_INFINITY } = shape;
  const value = badFor >= 0 && badFor < firstMinutes ? bad : calm;
  return value === 'none' ? 'stale' : String(value);
}

function isReset(atMinutes: number, { beginsAt, firesAt }: Times): boolean {
  return atMinutes === beginsAt - 2 || atMinutes === firesAt + 1;
}

/** Replaces samples after the alert fired: two minutes of stale marks, then two minutes of failed scrapes. */
function hide(weather: Weather, atMinutes: number, { firesAt }: Times): string | undefined {
  const since = atMinutes - firesAt;
  if (weather !== 'restart and scrape gap') return undefined;
  if (since === 0.5) return 'stale';
  return (since > 0.5 && since <= 2) || (since > 3 && since <= 5) ? '_' : undefined;
}

function toDuration(minutes: number): string {
  return `${Math.round(minutes * 60)}s`;
}
