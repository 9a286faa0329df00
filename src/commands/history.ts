import { existsSync, lstatSync } from 'node:fs';
import { ApiError } from '../api/errors.ts';
import { parseDuration } from '../config/values/duration.ts';
import { type LabelPair, labels as labelsType } from '../config/values/maps.ts';
import { checkValue } from '../config/values/value-type.ts';
import { type HistoryReport, type Span, writeHistory } from '../daemon/outputs/write-history.ts';
import { sleep } from '../domain/clock.ts';
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
  const nowMs = systemClock.now();
  const output = given.flags.get('output')?.toString() ?? 'history.om';
  const until = given.flags.get('until')?.toString();
  const server = config.servers.find(({ name }) => name === given.positionals[0]);
  const labels = readLabels(context, ['server', ...(server?.labels.map(([name]) => name) ?? [])]);
  const sinceMs = readTime(given.flags.get('since')?.toString() ?? '30d', nowMs);
  const givenUntilMs = readTime(until ?? '0s', nowMs);
  const wrong = [
    ...(server === undefined
      ? [`takes one of the configured servers: ${config.servers.map(({ name }) => name).join(', ') || 'none'}`]
      : []),
    ...(typeof labels === 'string' ? [`--label: ${labels}`] : []),
    ...(sinceMs === undefined ? [`--since: ${noTime}`] : []),
    ...(givenUntilMs === undefined ? [`--until: ${noTime}`] : []),
    // If a block ended in the future, Prometheus would reject the samples of scrapes, because they would be older.
    ...(givenUntilMs !== undefined && givenUntilMs > nowMs ? ['--until: is in the future'] : []),
    // The output is checked now, because the file is written hours later and replaces any file of its name.
    ...(isOther(output) ? [`--output: ${output} exists and is not a file; name another`] : []),
  ];
  const fail = (...texts: readonly string[]): number => {
    complain(texts.map((text) => `history: ${text}\n`).join(''));
    return exitCodes.misconfigured;
  };
  if (server === undefined || typeof labels === 'string' || sinceMs === undefined || wrong.length > 0)
    return fail(...wrong);
  const { overlapMs } = config.executions;
  const seam =
    until === undefined
      ? await findSeam(context, { server: server.name, output, latestMs: nowMs - overlapMs })
      : { untilMs: givenUntilMs };
  const untilMs = seam?.untilMs;
  if (untilMs === undefined) return exitCodes.misconfigured;
  if (sinceMs >= untilMs) return fail(`--since: is not before the end (${toIso(untilMs)})`);
  try {
    if (untilMs <= nowMs && untilMs + overlapMs > nowMs) {
      context.progress?.('waiting for executions that the server shows late');
      await sleep(systemClock, untilMs + overlapMs - nowMs);
    }
    const report = toReport(context, {
      output,
      requestsPerSecond: server.budget.requestsPerSecond,
      advise: seam?.advise,
    });
    const wish = { server, config, span: { sinceMs, untilMs }, labels, output, clock: systemClock, report };
    const { span, executions, complaints } = await writeHistory(wish);
    context.progress?.();
    if (complaints.length > 0) complain(`${complaints.join('\n')}\n`);
    write(`${output}: ${toCount(executions, 'execution')} ${toText(span)}\n`);
    return exitCodes.well;
  } catch (error) {
    context.progress?.();
    if (!(error instanceof ApiError || error instanceof StateError || isOfFile(error))) throw error;
    const says = error.message.replaceAll('`state.dir`', '`--output`');
    complain(`${says}\nThe same command continues where this one stopped\n`);
    return exitCodes.failed;
  }
}

type Seam = {
  readonly untilMs: number | undefined;
  /** Returns what to do if the file ends at `endMs`. An interrupted run continues with the end that it began with. */
  readonly advise?: (endMs: number) => string | undefined;
};

type SeamWish = { readonly server: string; readonly output: string; readonly latestMs: number };

/** Finds the time at which the counters of the running daemon begin. Without a daemon, the file ends at `latestMs`. */
async function findSeam(context: CommandContext, { server, output, latestMs }: SeamWish): Promise<Seam | undefined> {
  const daemon = await findDaemon(context);
  if (daemon === undefined) return undefined;
  const answer = await askDaemon({ ...daemon, path: '/api/status' });
  if (answer.kind === 'refused') {
    context.complain(`${answer.says}\n`);
    return undefined;
  }
  const unknown = `it is unknown when this daemon began to count executions of ${server}: set --until to the time of its first scrape`;
  if (answer.kind === 'unreachable') {
    // The file must not contain executions that a running daemon counts too.
    if (answer.isAbsent !== true) {
      context.complain(`${daemon.url}: ${answer.says}\n${unknown}\n`);
      return undefined;
    }
    const advise = (endMs: number): string =>
      `${daemon.url}: ${answer.says}\nCounting must begin where the file ends: before the first start, set executions.count_from to ${toIso(endMs)}`;
    return { untilMs: latestMs, advise };
  }
  const { executions, lease } = findServer(answer.content, server);
  const sinceMs = toTimestampMs(executions?.counted_since);
  if (sinceMs === undefined) {
    const says =
      lease?.owned === false ? `another exporter watches ${server}: set --url to ${String(lease.owner)}` : unknown;
    context.complain(`${daemon.url}: ${says}\n`);
    return undefined;
  }
  const advise = (endMs: number): string | undefined =>
    endMs === sinceMs
      ? undefined
      : `${output}.read belongs to a run whose file ends at ${toIso(endMs)}, but the counters of the daemon begin at ${toIso(sinceMs)}: remove it, and start again`;
  return { untilMs: sinceMs, advise };
}

/** Finds the server. A response of another program lacks the fields of a server. */
function findServer(content: unknown, server: string): NonNullable<Answered> {
  const { servers } = (content ?? {}) as { servers?: unknown };
  const all = Array.isArray(servers) ? (servers as readonly Answered[]) : [];
  return all.find((one) => one?.name === server) ?? {};
}

type Answered = {
  name?: unknown;
  executions?: { counted_since?: unknown } | null;
  lease?: { owned?: unknown; owner?: unknown } | null;
} | null;

const noTime = 'is neither a time, such as 2026-11-22T18:00:00Z, nor how long ago, such as 12h';

function readTime(text: string, nowMs: number): number | undefined {
  const age = parseDuration(text);
  return 'value' in age ? nowMs - age.value : toTimestampMs(text);
}

/** Reads `--label`. Returns a text if a label is wrong. */
function readLabels({ arguments: { flags } }: CommandContext, taken: readonly string[]): readonly LabelPair[] | string {
  const text = flags.get('label')?.toString();
  if (text === undefined) return [];
  const read = checkValue(labelsType, labelsType.fromText?.(text));
  if ('problems' in read) return read.problems.map(({ message }) => message).join('; ');
  const twice = read.value.find(([name]) => taken.includes(name));
  return twice === undefined ? read.value : `${twice[0]} is already a label of these series`;
}

/** Reports whether the path exists and is not a file, but for example a directory or a device. */
function isOther(path: string): boolean {
  return existsSync(path) && !lstatSync(path).isFile();
}

function toReport(
  { write, complain, progress }: CommandContext,
  { output, requestsPerSecond, advise }: { output: string; requestsPerSecond: number; advise: Seam['advise'] },
): HistoryReport {
  let total = 0;
  let size = 0;
  return {
    begun: ({ untilMs }) => {
      const advice = advise?.(untilMs);
      if (advice !== undefined) complain(`${advice}\n`);
    },
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
