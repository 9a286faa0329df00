/** One alerting rule, without the parts that follow from its name. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must hold; `0s` fires at the first evaluation. */
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  readonly description: string;
}
