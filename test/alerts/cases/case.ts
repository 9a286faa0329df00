/**
 * One series while all is well and while the trouble lasts: values of a gauge, a value that only the first minutes of the
 * trouble have, or the growth of a counter: per minute, or in the first minute of each interval.
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

/** A growth at the start of each interval of this many minutes of the trouble. */
export function bursts(growth: number, ofMinutes: number): Shape {
  return { calmPerMinute: 0, badPerMinute: 2 * growth, ofMinutes };
}

/** A problem, and what its alert must do. */
export interface Case {
  readonly alert: string;
  readonly series: Readonly<Record<string, Shape>>;
  /** The series of a problem that is just too small: values that differ from those above. */
  readonly below: Readonly<Record<string, Shape>>;
  /** Minutes from the start of the trouble to the alert; half a minute earlier, it must be silent. */
  readonly firesAfter: number;
  /** Minutes from the end of the trouble to the end of the alert, if it ends. */
  readonly resolvesAfter?: number;
  /** The duration of the trouble, if the alert needs more than twenty minutes. */
  readonly lastsMinutes?: number;
  /** The time without trouble before, if it is not ten minutes. */
  readonly calmMinutes?: number;
  /** The length of each of these minutes, for problems of days. */
  readonly minuteIs?: number;
  /** Each exporter fires its own alert. */
  readonly perExporter?: true;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
  /** The path in Grafana. */
  readonly dashboard: string;
  /** The path of a page of the exporter. */
  readonly page?: string;
}
