/** One alerting rule, without the parts that follow from its name. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must hold; `0s` fires at the first evaluation. */
  readonly for: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Labels beside those of the expression; an empty one is no label. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
  /** The page of Grafana that shows more, from `dashboardOf`. */
  readonly dashboard: string;
  /** The page of the exporter that shows more, from `pageOf`. */
  readonly page?: string;
  /** The collectors whose values it judges: without one of them it cannot fire. */
  readonly needs: readonly Collector[];
}

/** The collectors that alerts judge by. */
export const collectors = [
  'system-info',
  'execution-mode',
  'healthcheck',
  'log-storage',
  'executions',
  'schedule',
  'changes',
  'tokens',
] as const;

export type Collector = (typeof collectors)[number];

/** One recording rule. */
export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}
