import type { Cause } from '../tracing/enrich/causes.ts';
import type { Plan } from '../tracing/plan/plan-trace.ts';
import { type PastExecution, type SpanRow, toPastExecution } from './past-execution.ts';
import { toSentenceOfFailure, toWord } from './root-cause.ts';

/** Says why an execution ended as it did: the step that failed first says more than the whole. */
export function toWhy({ spans }: Pick<PastExecution, 'spans'>): string {
  const [{ why }] = spans;
  const sentence = toSentenceOfFailure(spans);
  return sentence === undefined || !why.startsWith('the execution failed') ? `Why: ${why}.` : sentence;
}

/** Shortens the trace of an execution to its cause; undefined for one that succeeded. Neither users nor arguments are in it. */
export function toCause(plan: Plan, of: { readonly id: number; readonly isSent: boolean }): Cause | undefined {
  const past = toPastExecution(plan, { server: '', ...of }, () => false);
  if (past === undefined) return undefined;
  const { spans, facts, traceId, permalink } = past;
  if (spans[0].result === 'success') return undefined;
  const steps = toSteps(spans);
  const shown = facts
    .filter(({ name }) => factsOfCause.includes(name))
    .map(({ name, value }) => ({ name, value: cut(value) }));
  return {
    why: cut(toWhy(past)),
    facts: steps === '' ? shown : [...shown, { name: 'Steps', value: steps }],
    traceId,
    permalink: permalink !== undefined && permalink.length <= longestLink ? permalink : undefined,
  };
}

const factsOfCause: readonly string[] = [
  'Reason',
  'Custom status',
  'Nodes that failed',
  'Nodes that succeeded',
  'Tried again',
];

/** The first steps of the workflow with their results: `1 succeeded, 2 (Settle) failed`. */
function toSteps(spans: readonly SpanRow[]): string {
  const steps = spans.filter(({ depth, path }) => depth === 1 && path !== undefined);
  const texts = steps.slice(0, mostSteps).map(({ name, path, result = 'unknown' }) => {
    const title = name === `step ${path}` ? '' : ` (${cut(name, 40)})`;
    return `${path}${title} ${toWord(result)}`;
  });
  return [...texts, ...(steps.length > mostSteps ? [`and ${steps.length - mostSteps} more`] : [])].join(', ');
}

const mostSteps = 8;
const longestText = 300;
const longestLink = 500;

function cut<Value extends string | number>(value: Value, longest = longestText): Value | string {
  return typeof value === 'string' && value.length > longest ? `${value.slice(0, longest - 1).toWellFormed()}…` : value;
}
