import type { SpanSource } from '../../domain/span-source.ts';
import { encodeTrace } from '../deliver/encode.ts';
import { toNamespace } from '../plan/ids.ts';
import { type Plan, planTrace } from '../plan/plan-trace.ts';
import { type TraceSettings, traceDefaults } from '../plan/settings.ts';
import { readRecording } from './recording.ts';
import { toTreeText } from './tree-text.ts';

/** A tree for people, or the request of OTLP. */
export type ReplayFormat = 'tree' | 'json';

export type ReplayOptions = {
  /** Of the ids; without it, the address that the recorded permalink shows. */
  readonly namespace: string | undefined;
  readonly format: ReplayFormat;
  /** Ours. */
  readonly version: string;
};

/** Returns the trace of a recorded execution, as a tree or as the request that would be sent. */
export function replay(recording: string, { namespace, format, version }: ReplayOptions): string {
  const source = readRecording(recording);
  const settings = {
    ...traceDefaults,
    namespace: namespace ?? findNamespace(source),
    server: 'replay',
    distro: { name: 'automation-exporter', version },
  };
  return replaySource(source, settings, format);
}

/** Returns the trace of an execution, as a tree or as the request that is sent. */
export function replaySource(source: SpanSource, settings: TraceSettings, format: ReplayFormat): string {
  const plan = planTrace(source, settings);
  if (plan === undefined)
    return format === 'json' ? '{"resourceSpans":[]}\n' : 'No trace: the execution has not ended, or never started.\n';
  if (format === 'json') return `${new TextDecoder().decode(encodeTrace(plan.trace, 'json'))}\n`;
  return `${toTitle(plan)}\n${toTreeText(plan.trace)}`;
}

function toTitle({ trace, caller, isUnknown, leftOut }: Plan): string {
  const said = [
    `trace ${trace.traceId}`,
    `${trace.spans.length} ${trace.spans.length === 1 ? 'span' : 'spans'}`,
    ...(leftOut > 0 ? [`${leftOut} left out`] : []),
    ...(caller === 'none' ? [] : [`caller ${caller}`]),
    ...(isUnknown ? ['an unknown status'] : []),
  ];
  return said.join(', ');
}

/** Reads the part before `/project/` of the links that servers build. */
function findNamespace({ execution: { permalink = '' } }: SpanSource): string {
  const [base = ''] = permalink.split('/project/');
  return URL.canParse(base) ? toNamespace(base) : 'unknown';
}
