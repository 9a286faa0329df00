import { ApiError } from '../api/errors.ts';
import { parseDuration } from '../config/values/duration.ts';
import { type LabelPair, labels as labelsType } from '../config/values/maps.ts';
import { checkValue } from '../config/values/value-type.ts';
import { type HistoryReport, type Span, writeHistory } from '../daemon/outputs/write-history.ts';
import { toCount, toSize } from '../domain/format.ts';
import { systemClock } from '../domain/system-clock.ts';
import { toTimestampMs } from '../domain/time.ts';
import { StateError } from '../state/state.ts';
import { askDaemon } from './ask-daemon.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { findDaemon } from './find-daemon.ts';
import { loadOrComplain } from './load.ts';

export async function history(context: CommandContext): Promise<number> {
  const { arguments: given, complain, write } = context;
  const loaded = await loadOrComplain(context);
  if (loaded === undefined) return exitCodes.misconfigured;
  const { config } = loaded;
  const fail = (text: string): number => {
    complain(`history: ${text}\n`);
    return exitCodes.misconfigured;
  };
  const server = config.servers.find(({ name }) => name === given.positionals[0]);
  if (server === undefined)
    return fail(`takes one of the configured servers: ${config.servers.map(({ name }) => name).join(', ')}`);
  const labels = readLabels(context, ['server', ...server.labels.map(([name]) => name)]);
  if (typeof labels === 'string') return fail(`--label: ${labels}`);
  const nowMs = systemClock.now();
  const sinceMs = readTime(given.flags.get('since')?.toString() ?? '30d', nowMs);
  const wantedMs = given.flags.get('until')?.toString();
  const untilMs = wantedMs === undefined ? await findSeam(context, server.name, nowMs) : readTime(wantedMs, nowMs);
  if (sinceMs === undefined) return fail('--since: is neither a time nor a duration');
  if (untilMs === undefined)
    return wantedMs === undefined ? exitCodes.misconfigured : fail('--until: is neither a time nor a duration');
  if (sinceMs >= untilMs) return fail(`--since: is not before the end (${toIso(untilMs)})`);
  const output = given.flags.get('output')?.toString() ?? 'history.om';
  try {
    const report = toReport(context, output, server.budget.requestsPerSecond);
    const wish = { server, config, span: { sinceMs, untilMs }, labels, output, clock: systemClock, report };
    const { span, executions, complaints } = await writeHistory(wish);
    context.progress?.();
    if (complaints.length > 0) complain(`${complaints.join('\n')}\n`);
    write(`${output}: ${toCount(executions, 'execution')} ${toText(span)}\n`);
    return exitCodes.well;
  } catch (error) {
    context.progress?.();
    if (!(error instanceof ApiError || error instanceof StateError || isOfFile(error))) throw error;
    complain(`${error.message}\nThe same command continues where this one stopped\n`);
    return exitCodes.failed;
  }
}

/** Returns the time at which the counters of the running daemon begin; without a daemon, the present time. */
async function findSeam(context: CommandContext, server: string, nowMs: number): Promise<number | undefined> {
  const daemon = await findDaemon(context);
  if (daemon === undefined) return undefined;
  const answer = await askDaemon({ ...daemon, path: '/api/status' });
  if (answer.kind === 'refused') {
    context.complain(`${answer.says}\n`);
    return undefined;
  }
  if (answer.kind === 'unreachable') {
    const when = toIso(nowMs);
    context.complain(
      `${daemon.url}: ${answer.says}\nThe file ends now, so counting must begin now: before the first start, set executions.count_from to ${when}\n`,
    );
    return nowMs;
  }
  const sinceMs = toTimestampMs(findCountedSince(answer.content, server));
  if (sinceMs === undefined)
    context.complain(
      `${daemon.url}: it is unknown when this daemon began to count executions of ${server}: set --until to the time of its first scrape\n`,
    );
  return sinceMs;
}

/** The answer of another program does not have this field. */
function findCountedSince(content: unknown, server: string): unknown {
  const { servers } = (content ?? {}) as { servers?: unknown };
  const all = Array.isArray(servers) ? (servers as readonly Answered[]) : [];
  return all.find((one) => one?.name === server)?.executions?.counted_since;
}

type Answered = { name?: unknown; executions?: { counted_since?: unknown } | null } | null;

/** Reads a time, or how long ago. */
function readTime(text: string, nowMs: number): number | undefined {
  const age = parseDuration(text);
  return 'value' in age ? nowMs - age.value : toTimestampMs(text);
}

/** Reads `--label`; returns a text if it is wrong. */
function readLabels({ arguments: { flags } }: CommandContext, taken: readonly string[]): readonly LabelPair[] | string {
  const text = flags.get('label')?.toString();
  if (text === undefined) return [];
  const read = checkValue(labelsType, labelsType.fromText?.(text));
  if ('problems' in read) return read.problems.map(({ message }) => message).join('; ');
  const twice = read.value.find(([name]) => taken.includes(name));
  return twice === undefined ? read.value : `${twice[0]} is already a label of these series`;
}

function toReport({ write, progress }: CommandContext, output: string, requestsPerSecond: number): HistoryReport {
  let total = 0;
  let size = 0;
  return {
    reading: (span, executions) => {
      total = executions;
      const requests = Math.ceil(executions / 500);
      const time = Math.ceil(requests / requestsPerSecond / 60);
      write(
        `reading ${toCount(executions, 'execution')} ${toText(span)}: about ${toCount(requests, 'request')}, at least ${time} min\n`,
      );
    },
    read: (executions) => progress?.(`reading: ${toPercent(executions, total)}`),
    writing: ({ lines, bytes }) => {
      size = bytes;
      write(`writing ${toCount(lines, 'line')}, about ${toSize(bytes)}, to ${output}\n`);
    },
    written: (bytes) => progress?.(`writing: ${toPercent(bytes, size)}`),
  };
}

function toPercent(part: number, whole: number): string {
  return `${whole === 0 ? 100 : Math.min(100, Math.floor((100 * part) / whole))} %`;
}

function toText({ sinceMs, untilMs }: Span): string {
  return `from ${toIso(sinceMs)} to ${toIso(untilMs)}`;
}

function toIso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function isOfFile(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);
}
