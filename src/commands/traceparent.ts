import { type SpanKey, toSpanId, toTraceId, toTraceparent } from '../tracing/ids.ts';
import { type CommandContext, exitCodes } from './command.ts';

/** The `traceparent` of an execution or of one of its steps, for a step that wants to make spans of its own. */
export async function traceparent({ arguments: { flags }, write, complain }: CommandContext): Promise<number> {
  const text = (name: string): string | undefined => flags.get(name)?.toString();
  const [namespace, execution, step, node] = ['namespace', 'execution', 'step', 'node'].map(text);
  const complaints: string[] = [];
  if (namespace === undefined) complaints.push('--namespace: is missing (the address of the server, as configured)');
  if (execution === undefined) complaints.push('--execution: is missing (the id of the execution)');
  if (node !== undefined && step === undefined) complaints.push('--node: needs --step beside it');
  if (namespace === undefined || execution === undefined || complaints.length > 0) {
    complain(`${complaints.join('\n')}\n`);
    return exitCodes.misconfigured;
  }
  const spanId = toSpanId(namespace, execution, toKey(step, node));
  write(`${toTraceparent(toTraceId(namespace, execution), spanId)}\n`);
  return exitCodes.well;
}

function toKey(path: string | undefined, node: string | undefined): SpanKey {
  if (path === undefined) return { kind: 'root' };
  return node === undefined ? { kind: 'step', path } : { kind: 'node', path, node };
}
