import { formatDuration } from '../../src/config/values/duration.ts';
import { executionLimits } from '../../src/status/limits.ts';
import type { Alert, Recording } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, pageOf } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** One objective: this share of the counted events has to be good. */
export interface Objective {
  /** The name of the objective, as `sloth_slo`. */
  readonly name: string;
  /** There is one objective for each combination of these labels. */
  readonly by: readonly string[];
  readonly description: string;
  readonly target: 'executionsObjective' | 'punctualityObjective';
  /** The rates of bad events and of all counted events, over a window. */
  readonly errors: (window: string) => string;
  readonly total: (window: string) => string;
  /** The number of bad events within a window. */
  readonly count: (window: string, limits: Thresholds) => string;
}

function toExecutions(name: string, by: readonly string[], description: string): Objective {
  const sum = `sum by (${by.join(', ')})`;
  return {
    name,
    by,
    description,
    target: 'executionsObjective',
    errors: (window) => `${sum} (rate(${badEnds}[${window}]))`,
    total: (window) => `${sum} (rate(${judgedEnds}[${window}]))`,
    count: (window, limits) => `${sum} (${createExpressions(limits).once(`increase(${badEnds}[${window}])`)})`,
  };
}

export const slothService = 'automation';

/** Executions that failed, and all that the objective judges. The objective ignores aborted executions and retried attempts. */
export const badEnds = 'automation_project_executions_total{status=~"failed|timedout|other"}';
export const judgedEnds = 'automation_project_executions_total{status=~"succeeded|failed|timedout|other"}';

export const executionObjectives: readonly [Objective, Objective] = [
  toExecutions('executions-by-server', ['cluster', 'server'], 'Executions of a server succeed.'),
  toExecutions('executions-by-project', ['cluster', 'server', 'project'], 'Executions of a project succeed.'),
];

/** The windows of the error ratio. The ratio of the whole period is computed from rates over the first window. */
const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const;
export const periodDays = 30;

/** The recording rules in the form of Sloth, for its dashboards. */
export function toObjectiveRecordings(objectives: readonly Objective[], limits: Thresholds): Recording[] {
  return objectives.flatMap((objective) => [
    ...toRatios(objective),
    ...toMetadata(objective, limits[objective.target]),
  ]);
}

/** Returns a percentage without the error of binary fractions. */
export function toPercent(target: number): number {
  return Number((100 * target).toFixed(4));
}

function toLabels({ name }: Objective): Readonly<Record<string, string>> {
  return { sloth_id: `${slothService}-${name}`, sloth_service: slothService, sloth_slo: name };
}

function toSelector(objective: Objective): string {
  const labels = Object.entries(toLabels(objective)).map(([label, value]) => `${label}="${value}"`);
  return `{${labels.join(', ')}}`;
}

function toRatios(objective: Objective): Recording[] {
  const labels = toLabels(objective);
  const [period, selector] = [`${periodDays}d`, toSelector(objective)];
  const [bad, all] = ['automation:slo_errors:rate5m', 'automation:slo_events:rate5m'];
  const over = (record: string): string => `sum_over_time(${record}${selector}[${period}])`;
  return [
    ...windows.map((window) => ({
      record: `slo:sli_error:ratio_rate${window}`,
      expr: `${objective.errors(window)}\n/\n(${objective.total(window)} > 0)`,
      labels: { ...labels, sloth_window: window },
    })),
    { record: bad, expr: objective.errors('5m'), labels },
    { record: all, expr: objective.total('5m'), labels },
    {
      record: `slo:sli_error:ratio_rate${period}`,
      // Each event counts once. In a mean of ratios, one execution could weigh as much as a thousand.
      expr: `(${over(bad)} or 0 * ${over(all)})\n/\n(${over(all)} > 0)`,
      labels: { ...labels, sloth_window: period },
    },
  ];
}

function toMetadata(objective: Objective, target: number): Recording[] {
  const labels = toLabels(objective);
  const selector = toSelector(objective);
  const budget = `/ on (sloth_id, sloth_slo, sloth_service) group_left ()\nslo:error_budget:ratio${selector}`;
  return [
    { record: 'slo:objective:ratio', expr: `vector(${target})`, labels },
    { record: 'slo:error_budget:ratio', expr: `vector(1 - ${target})`, labels },
    { record: 'slo:time_period:days', expr: `vector(${periodDays})`, labels },
    { record: 'slo:current_burn_rate:ratio', expr: `slo:sli_error:ratio_rate5m${selector}\n${budget}`, labels },
    {
      record: 'slo:period_burn_rate:ratio',
      expr: `slo:sli_error:ratio_rate${periodDays}d${selector}\n${budget}`,
      labels,
    },
    { record: 'slo:period_error_budget_remaining:ratio', expr: `1 - slo:period_burn_rate:ratio${selector}`, labels },
    {
      record: 'sloth_slo_info',
      expr: 'vector(1)',
      labels: {
        ...labels,
        sloth_mode: 'cli-gen-prom',
        sloth_objective: String(toPercent(target)),
        sloth_spec: 'prometheus/v1',
        sloth_version: 'none',
      },
    },
  ];
}

/** Is the error budget spent too fast? */
export function objectiveAlerts(limits: Thresholds): Alert[] {
  const whole = '{{ with $labels.project }} in {{ . }}{{ end }}';
  return [
    {
      alert: 'AutomationErrorBudgetBurnFast',
      expr: burning('AutomationErrorBudgetBurnFast', fast, limits),
      for: limits.burnFastFor,
      severity: 'critical',
      summary: `High failure rate on {{ $labels.server }}${whole}`,
      description: `{{ $value | humanizePercentage }} of the executions on {{ $labels.server }}${whole} fail. At this rate the error budget of ${periodDays} days is spent in less than five days.`,
      dashboard: dashboardOf.project,
      page: pageOf.failures,
      needs: ['executions'],
    },
    {
      alert: 'AutomationErrorBudgetBurnSlow',
      expr: burning('AutomationErrorBudgetBurnSlow', slow, limits),
      for: limits.burnSlowFor,
      severity: 'warning',
      summary: `Too many executions on {{ $labels.server }}${whole} fail`,
      description: `{{ $value | humanizePercentage }} of the executions on {{ $labels.server }}${whole} fail. At this rate the error budget of ${periodDays} days is spent before ${periodDays} days are over.`,
      dashboard: dashboardOf.project,
      page: pageOf.failures,
      needs: ['executions'],
    },
  ];
}

/** Both windows must spend the budget this many times too fast. The short window ends the alert soon after the failures. */
interface Burn {
  readonly short: string;
  readonly long: string;
  readonly factor: number;
}

export const fast = toBurns(executionLimits.burns.burning);
export const slow = toBurns(executionLimits.burns.burning_slowly);

type BurnMs = { readonly shortMs: number; readonly longMs: number; readonly factor: number };

function toBurns([one, other]: readonly [BurnMs, BurnMs]): readonly [Burn, Burn] {
  return [toBurn(one), toBurn(other)];
}

function toBurn({ shortMs, longMs, factor }: BurnMs): Burn {
  return { short: formatDuration(shortMs), long: formatDuration(longMs), factor };
}

/**
 * An alert for the whole server, or else for each project. Projects have alerts only if the server is within its budget, and if
 * its alert has not fired within the longest short window: this window still contains failures after the trouble is over.
 */
function burning(alert: string, burns: readonly [Burn, Burn], limits: Thresholds): string {
  const { unlessBehind } = createExpressions(limits);
  const [server, project] = executionObjectives.map((objective) => toBurning(objective, burns, limits));
  const fired = `max_over_time(ALERTS{alertname="${alert}",project="",alertstate="firing"}[${burns[1].short}])`;
  return `(\n${server}\n)\nor\n(\n(\n${project}\n)\nunless on (cluster, server)\n(\n${server}\n)\nunless on (cluster, server)\n  ${fired}\n)\n${unlessBehind.replace('on (job, cluster, server)', 'on (cluster, server)')}`;
}

/** Returns the condition that a pair of windows spends the budget too fast, with enough failures. */
export function toBurning(objective: Objective, burns: readonly Burn[], limits: Thresholds): string {
  return burns.map((burn) => toCondition(objective, burn, limits)).join('\nor\n');
}

function toCondition(objective: Objective, { short, long, factor }: Burn, limits: Thresholds): string {
  const by = objective.by.join(', ');
  const limit = `${factor} * (1 - ${limits[objective.target]})`;
  const over = (window: string): string =>
    `max without (sloth_window) (slo:sli_error:ratio_rate${window}${toSelector(objective)}) > ${limit}`;
  return `${over(short)}\nand\n${over(long)}\nand on (${by})\n  ${objective.count(long, limits)} >= ${limits.burnFailures}`;
}
