/**
 * One series while all is well and while the trouble lasts: values of a gauge, a value that only the first minutes of the
 * trouble have, or the growth of a counter per minute, or in the first of so many minutes.
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

/** Grows at once, as often as so many minutes of the trouble begin. */
export function bursts(growth: number, ofMinutes: number): Shape {
  return { calmPerMinute: 0, badPerMinute: 2 * growth, ofMinutes };
}

/** One trouble, and what its alert does about it. */
export interface Case {
  readonly alert: string;
  readonly series: Readonly<Record<string, Shape>>;
  /** The same series where the trouble is just too small: values that differ from those above. */
  readonly below: Readonly<Record<string, Shape>>;
  /** Minutes from the beginning of the trouble to the alert; half a minute before, it is silent. */
  readonly firesAfter: number;
  /** Minutes from the end of the trouble until the alert is over, if any. */
  readonly resolvesAfter?: number;
  /** How long the trouble lasts, if the alert needs more than twenty minutes of it. */
  readonly lastsMinutes?: number;
  /** How long all is well before the trouble, if not ten minutes. */
  readonly calmMinutes?: number;
  /** How long each of these minutes is, for a trouble of days. */
  readonly minuteIs?: number;
  /** Each exporter speaks for itself. */
  readonly perExporter?: true;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
  /** The path in Grafana. */
  readonly dashboard: string;
  /** The path of a page of the exporter. */
  readonly page?: string;
}
