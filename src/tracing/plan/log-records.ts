import { type FirstCause, isOfStep, type LogLine } from '../../domain/failure-class.ts';
import { conventional, own } from './attribute-names.ts';
import type { Plan } from './plan-trace.ts';
import type { Attributes, Trace } from './span.ts';

export type LogRecords = {
  /** The names of the service. The resource has only the service, because log stores index resources. */
  readonly resource: Attributes;
  readonly scope: Trace['scope'];
  readonly records: readonly LogRecord[];
};

export type LogRecord = {
  /** The time; undefined if the line has no time. */
  readonly atMs: number | undefined;
  readonly observedMs: number;
  readonly level: LogLine['level'];
  readonly body: string;
  readonly eventName?: string;
  readonly span?: { readonly traceId: string; readonly spanId: string };
  readonly attributes: Attributes;
};

/** Returns the log lines of a failure as log records of the span of their step. */
export function toLineRecords({ trace, failure, lines = [] }: Plan, observedMs: number): LogRecords {
  const { traceId, resource, scope } = trace;
  const [first] = trace.spans;
  const root = first?.attributes ?? {};
  // The trace id of a caller is not unique to an execution.
  const uid = first?.parentId === undefined ? traceId : first.id;
  const describe = (place: Place | undefined) => {
    const step = findSpan(trace, place);
    return {
      ...(step === undefined ? {} : { span: { traceId, spanId: step.id } }),
      shared: pick({ ...resource, ...root, ...step?.attributes }, attributesOfLines),
    };
  };
  const ofFailure = describe(failure);
  const places = [failure ?? {}, ...(failure?.others ?? [])].map((place) => ({ place, about: describe(place) }));
  return {
    resource: {
      ...pick(resource, [conventional.service]),
      ...(root[own.project] === undefined ? {} : { [conventional.namespace]: root[own.project] }),
    },
    scope,
    records: lines.map(({ text, level, atMs, ...where }, index) => {
      const own = places.find(({ place }) => where.node === place.node && isOfStep(where, place));
      const { shared, ...of } = own?.about ?? ofFailure;
      // Records of a repeated delivery have the same ids.
      const attributes = { ...shared, [conventional.recordId]: `${uid}-${index + 1}` };
      return { atMs, observedMs, level, body: text, ...of, attributes };
    }),
  };
}

type Place = Pick<FirstCause, 'node' | 'context'>;

/** Finds the span of a step on its node; returns the root if the trace does not contain it. */
function findSpan({ spans }: Trace, { context, node }: Place = {}) {
  const find = (runId: string) => spans.find(({ attributes }) => attributes[conventional.taskRunId] === runId);
  return (node && find(`${context}@${node}`)) || (context && find(context)) || spans[0];
}

const attributesOfLines: readonly string[] = [
  own.server,
  own.jobGroup,
  own.jobName,
  own.failureClass,
  own.fingerprint,
  own.node,
  conventional.pipeline,
  conventional.runId,
  conventional.runUrl,
  conventional.task,
  conventional.taskRunId,
  conventional.errorType,
  conventional.exitCode,
];

function pick(attributes: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes(name)));
}
