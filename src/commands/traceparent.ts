import { parseTraceparent, type SpanKey, toSpanId, toTraceId, toTraceparent } from '../tracing/plan/ids.ts';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';

export async function traceparent(context: CommandContext): Promise<number> {
  const {
    arguments: { flags },
    write,
    complain,
  } = context;
  if (!areArgumentsFine(context)) return exitCodes.misconfigured;
  const text = (name: string): string | undefined => flags.get(name)?.toString();
  const [namespace, execution, step, node] = ['namespace', 'execution', 'step', 'node'].map(text);
  const given = text('traceparent')?.trim();
  // With mode `parent`, an execution is part of the trace of its caller.
  const caller = given === undefined ? undefined : parseTraceparent(given);
  const complaints: string[] = [];
  if (namespace === undefined)
    complaints.push('--namespace: is missing (the namespace of the server, as the command config prints it)');
  if (execution === undefined) complaints.push('--execution: is missing (the id of the execution)');
  else if (!/^[1-9]\d{0,15}$/.test(execution))
    complaints.push('--execution: is not the id of an execution (a whole number, for example 4711)');
  if (node !== undefined && step === undefined) complaints.push('--node: also needs --step');
  if (given !== undefined && caller === undefined) complaints.push(notOfCaller);
  if (namespace === undefined || execution === undefined || complaints.length > 0) {
    complain(`${complaints.join('\n')}\n`);
    return exitCodes.misconfigured;
  }
  const spanId = toSpanId(namespace, execution, toKey(step, node));
  write(`${toTraceparent(caller?.traceId ?? toTraceId(namespace, execution), spanId)}\n`);
  return exitCodes.well;
}

const notOfCaller =
  '--traceparent: is not a trace context; the exporter would ignore it (for example 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01)';

function toKey(path: string | undefined, node: string | undefined): SpanKey {
  if (path === undefined) return { kind: 'root' };
  return node === undefined ? { kind: 'step', path } : { kind: 'node', path, node };
}
