/** One execution that is over, as its trace tells. */
export type PastExecution = {
  readonly server: string;
  readonly id: number;
  readonly project: string | undefined;
  /** Its group and name, or what it was instead. */
  readonly job: string;
  readonly traceId: string;
  /** Where the service shows it. */
  readonly permalink: string | undefined;
  /** The attempt before it, then the one after it, where they are known. */
  readonly attempts: readonly Attempt[];
  /** What else is known of it, in the order of the page. */
  readonly facts: readonly Fact[];
  /** What the trace lacks, in sentences. */
  readonly notes: readonly string[];
  /** The root first, every parent before its children. */
  readonly spans: readonly [SpanRow, ...SpanRow[]];
};

/** Another attempt at the same. */
export type Attempt = {
  readonly relation: 'retry of' | 'retried by';
  readonly id: number;
  readonly hasPage: boolean;
};

export type Fact = { readonly name: string; readonly value: string | number };

/** One span: a step, a node, a nested job, or the whole. */
export type SpanRow = {
  readonly name: string;
  /** Its place in the workflow. */
  readonly path: string | undefined;
  /** How many parents it has. */
  readonly depth: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether these times are not those that the service told: a child stays within its parent. */
  readonly isFitted: boolean;
  readonly result: string | undefined;
  readonly hasFailed: boolean;
  /** Why it has this result. */
  readonly why: string;
  /** What else is to be known of it. */
  readonly remarks: readonly string[];
};
