/**
 * The values of a series: `calm` before and after the trouble, `bad` during it or in its first minutes. For a counter,
 * the growth per minute.
 */
export type Shape =
  | { readonly calm: number | 'none'; readonly bad: number | 'none'; readonly firstMinutes?: number }
  | { readonly calmPerMinute: number; readonly badPerMinute: number; readonly ofMinutes?: number };

export function gauge(calm: number | 'none', bad: number | 'none' = calm): Shape {
  return { calm, bad };
}

export function pulse(calm: number, bad: number, firstMinutes: number): Shape {
  return { calm, bad, firstMinutes };
}

export function counter(calmPerMinute: number, badPerMinute: number): Shape {
  return { calmPerMinute, badPerMinute };
}

/** A counter that grows only once in `every` minutes of the trouble. */
export function bursts(growth: number, ofMinutes: number): Shape {
  return { calmPerMinute: 0, badPerMinute: 2 * growth, ofMinutes };
}

/** A problem, and what its alert must do. */
export interface Case {
  readonly alert: string;
  readonly series: Readonly<Record<string, Shape>>;
  /** Values at which the alert must stay silent; other series have the values above. */
  readonly below: Readonly<Record<string, Shape>>;
  /** The number of minutes from the start of the trouble to the alert; half a minute earlier the alert must be silent. */
  readonly firesAfter: number;
  /** Minutes from the end of the trouble to the end of the alert, if it ends. */
  readonly resolvesAfter?: number;
  /** The duration of the trouble, if the alert needs more than twenty minutes. */
  readonly lastsMinutes?: number;
  /** The minutes before the trouble, if not ten. */
  readonly calmMinutes?: number;
  /** The real length of one minute of the test, for problems that last for days. */
  readonly minuteIs?: number;
  /** True if each exporter fires its own alert. */
  readonly perExporter?: true;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
  /** The path of the dashboard in Grafana. */
  readonly dashboard: string;
  /** The path of a page of the exporter. */
  readonly page?: string;
}
