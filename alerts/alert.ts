/** An alert, without the parts that its name determines. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must be true; `0s` fires at the first evaluation. */
  readonly for: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Additional labels; an empty value adds no label. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
  /** A dashboard from `dashboardOf`. */
  readonly dashboard: string;
  /** A page of the exporter from `pageOf`. */
  readonly page?: string;
  /** The collectors that the alert needs: if one of them is off, the alert cannot fire. */
  readonly needs: readonly Collector[];
}

/** The collectors that alerts may need. */
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

type Collector = (typeof collectors)[number];

/** One recording rule. */
export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}
