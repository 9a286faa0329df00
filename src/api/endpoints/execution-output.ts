import { z } from 'zod';
import { type LogLine, logLimit, toShown } from '../../domain/failure-class.ts';
import { toTimestampMs } from '../../domain/time.ts';
import { defineEndpoint, executionRead, largeListBytes } from '../endpoint.ts';
import { flag, number, text } from '../lenient.ts';
import { isExitMessage, isLoginMessage, unendedCode } from './execution-state.ts';

/** The end of a log. The lines of a log may contain anything, including secrets. */
export type LogTail = {
  /** True if the log or its end is still being loaded. Request the log again, a limited number of times. */
  readonly isPending: boolean;
  /** True if the member that responded does not have the log. Another member may have the log. */
  readonly isLost: boolean;
  /** True if the response includes the end of the log. */
  readonly isComplete: boolean;
  /** The position at which the next page begins. */
  readonly offset: number | undefined;
  /** The size of the whole log. */
  readonly bytes: number | undefined;
  /** The number of all entries, including entries that are not decoded. */
  readonly count: number;
  /** Why the execution failed, from the error lines. The reason is one word, as in states. */
  readonly failureReason: string | undefined;
  /** The lines without debug levels, because debug lines contain secure options. */
  readonly lines: readonly LogLine[];
};

const entry = z.object({ log: text, level: text, stepctx: text, node: text, absolute_time: text });

/**
 * API reference, "Output content": the last lines of a log, or a page of the lines of a step. Without a limit, the response
 * would be the whole log. For a lost log, servers return 200 with `error` and no lines.
 */
export const executionOutput = defineEndpoint({
  name: 'execution-output',
  path: 'execution/{id}/output',
  query: ['lastlines', 'offset', 'maxlines', 'nodename', 'stepctx'],
  maxBytes: largeListBytes,
  keepsLongTexts: true,
  since: 14,
  allowedBy: executionRead,
  body: z
    .object({
      pending: text,
      error: text,
      completed: flag,
      offset: number,
      totalSize: number,
      retryBackoff: number,
      entries: z.array(z.unknown()).catch([]),
    })
    .transform(({ pending, error, completed, offset, totalSize, retryBackoff = 0, entries }): LogTail => {
      const lines = entries.flatMap((item) => entry.safeParse(item).data ?? []);
      const errors = lines.filter(({ level }) => level === 'ERROR');
      return {
        // Until the whole log is stored, a member may have only the beginning of the log of another member.
        isPending: completed !== true && (pending !== undefined || retryBackoff > 0),
        isLost: error !== undefined && entries.length === 0,
        isComplete: completed === true,
        offset,
        bytes: totalSize,
        count: entries.length,
        failureReason: findReason(errors),
        lines: lines.flatMap((line) => toLogLine(line) ?? []),
      };
    }),
});

type Line = z.infer<typeof entry>;

function toLogLine({ level, log, node, stepctx, absolute_time: time }: Line): LogLine | undefined {
  if (log === undefined || (level !== 'ERROR' && level !== 'WARN' && level !== 'NORMAL')) return undefined;
  return {
    level,
    text: toShown(log).slice(0, maxLineLength),
    node,
    context: stepctx === '' ? undefined : stepctx,
    atMs: toTimestampMs(time),
  };
}

const maxLineLength = 4000;

/** Finds the reason of a failure. The last line names the failed step, and the lines of this step have the reason. */
function findReason(errors: readonly Line[]): string | undefined {
  if (errors.some(isHalt)) return logLimit;
  const summary = errors.flatMap(({ log }) => toSummary(log) ?? []).at(-1);
  const isOfStep = ({ stepctx = '' }: Line): boolean =>
    stepctx === '' || /^\d{1,9}/.exec(stepctx)?.[0] === summary?.step;
  const lines = summary === undefined ? errors : errors.filter(isOfStep);
  return lines.flatMap(({ log }) => toReason(log) ?? []).at(-1) ?? summary?.reason;
}

/** Reports whether a line ends the log of a failure. Commands may write the same text, but then the line names a step. */
function isHalt({ log = '', stepctx = '' }: Line): boolean {
  return stepctx === '' && /^Log output limit exceeded: .{0,200}\baction: halt\b/.test(log);
}

function toReason(line: string | undefined): string | undefined {
  if (line?.startsWith(noNodes) === true) return 'NoMatchedNodes';
  const [, unstarted] = /^Failed to start execution: (?:[a-z\d]{1,60}\.){0,20}([A-Za-z]{1,60})/.exec(line ?? '') ?? [];
  if (unstarted !== undefined) return unstarted;
  const [, reason, message = ''] = /^Failed: ([A-Za-z]{1,60})(?::\s*(.{0,100})|$)/.exec(line ?? '') ?? [];
  return toKnownReason(reason, message);
}

/** Returns the reason in a line, if known. A stopped command has a special exit code; `Unknown` means that no reason is known. */
function toKnownReason(reason: string | undefined, message: string): string | undefined {
  if (reason === 'NonZeroResultCode' && message.startsWith(`Result code was ${unendedCode}`)) return 'Interrupted';
  if (reason !== 'Unknown') return reason;
  if (isExitMessage(message)) return 'NonZeroResultCode';
  return isLoginMessage(message) ? 'AuthenticationFailure' : undefined;
}

/** The node filter of the job matched no node. Without a node no step starts, so no step has a reason. */
const noNodes = 'com.dtolabs.rundeck.core.NodesetEmptyException: ';

/** Reads `… step failures: {3=JobFailed: …}`, and for nodes `{1=Dispatch failed on 1 nodes: [web01: NonZeroResultCode: …`. */
function toSummary(line: string | undefined): { step: string; reason: string | undefined } | undefined {
  const [, step, rest = ''] = /step failures: \{(\d{1,9})=(.{0,300})/.exec(line?.slice(0, maxHeadLength) ?? '') ?? [];
  if (step === undefined) return undefined;
  if (!rest.startsWith('Dispatch failed'))
    return { step, reason: /^(?!Unknown\b)([A-Za-z]{1,60})[:,}]/.exec(rest)?.[1] };
  const [, ofNode, message = ''] =
    /^Dispatch failed on \d{1,9} nodes?: \[[^:]{1,200}: ([A-Za-z]{1,60}): ?(.{0,100})/.exec(rest) ?? [];
  return { step, reason: toKnownReason(ofNode, message) ?? 'NodeDispatchFailure' };
}

const maxHeadLength = 4000;
