import { toAge, toDuration, toTime } from '../domain/ages.ts';
import { toCount } from '../domain/sizes.ts';
import type { CollectorStatus, ServerStatus, Status, TargetStatus, TracesStatus } from './status.ts';
import { listUnreadable } from './unreadable.ts';

/** The kinds of problems, worst first. */
export const problemKinds = [
  'down',
  'refused',
  'passive',
  'unwell',
  'not_reloaded',
  'unreadable',
  'failing',
  'late',
  'undelivered',
  'quarantined',
  'denied',
  'partial',
  'hidden',
  'left_out',
  'waiting',
] as const;
export type ProblemKind = (typeof problemKinds)[number];

export type Problem = {
  readonly kind: ProblemKind;
  /** Undefined for what is wrong with the exporter's own traces. */
  readonly server?: string;
  readonly member?: string;
  readonly collector?: string;
  /** A sentence for someone who reads nothing else. */
  readonly text: string;
};

/** Everything that is wrong, the worst first, and among equals in the order of the page. */
export function findProblems({ servers, traces, atMs, failedReload }: Status): readonly Problem[] {
  const ofServers = servers.flatMap((server): Problem[] => [
    ...findIn(server, { server: server.name }, atMs),
    ...server.members.flatMap((member) => [...findIn(member, { server: server.name, member: member.name }, atMs)]),
    ...listUnreadable(server).map((text) => toUnreadable(server.name, text)),
    ...findDenied(server),
    ...findHidden(server),
    ...findLeftOut(server),
  ]);
  const problems = [...ofServers, ...findInReload(failedReload, atMs), ...findInTraces(traces, atMs)];
  const brief = problems.map((problem) => ({ ...problem, text: cut(problem.text) }));
  return problemKinds.flatMap((kind) => brief.filter((problem) => problem.kind === kind));
}

/** Returns the worst problem as a sentence, or a summary if there is none. */
export function toHeadline({ servers }: Status, [worst]: readonly Problem[]): string {
  if (worst !== undefined) return worst.text.endsWith('.') ? worst.text : `${worst.text}.`;
  const targets = servers.flatMap(toTargets);
  const succeeded = targets.flatMap(({ collectors }) => collectors.filter(({ result }) => result === 'success'));
  const [first, second] = servers;
  const isActive = targets.some(({ executionMode }) => executionMode === 'active');
  const one = `${first?.name} answers${isActive ? ' and is allowed to run jobs' : ''}`;
  const all = `all ${servers.length} servers answer${isActive ? ' and are allowed to run jobs' : ''}`;
  const upToDate = `${succeeded.length} ${succeeded.length === 1 ? 'collector is' : 'collectors are'} up to date`;
  return `No problem seen: ${second === undefined ? one : all}, and ${upToDate}.`;
}

function toTargets(server: ServerStatus): readonly TargetStatus[] {
  return [server, ...server.members];
}

/** Finds a reload that failed: the requested configuration is not in force. */
function findInReload(failed: Status['failedReload'], nowMs: number): Problem[] {
  if (failed === undefined) return [];
  const [first = '', ...others] = failed.complaints;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const text = `the configuration was not reloaded ${toAge(failed.atMs, nowMs)}, the previous one stays in force: ${first}${more}`;
  return [{ kind: 'not_reloaded', text }];
}

type Place = { readonly server: string; readonly member?: string };

function* findIn(target: TargetStatus, place: Place, nowMs: number): Generator<Problem> {
  const { state, message, executionMode, executionModeSinceMs, collectors } = target;
  const name = place.member === undefined ? place.server : `${place.server}/${place.member}`;
  const since = toSince(target.sinceMs, nowMs);
  if (state === 'waiting') yield { kind: 'waiting', ...place, text: `${name} has not been asked yet` };
  if (state === 'refused') {
    const text = `${name} rejects the credentials${since}: they are missing, wrong or expired`;
    yield { kind: 'refused', ...place, text };
    return;
  }
  if (state === 'down') {
    const text = `${name} gives no usable answer${since}${message === undefined ? '' : `: ${message}`}`;
    yield { kind: 'down', ...place, text };
    return;
  }
  if (executionMode === 'passive') {
    const text = `${name} is passive and runs nothing${toSince(executionModeSinceMs, nowMs)}`;
    yield { kind: 'passive', ...place, text };
  }
  for (const collector of collectors) {
    yield* findInCollector(collector, name, place, nowMs);
    // Above it is told better: since when.
    if (executionMode !== 'passive' || collector.name !== 'execution-mode') yield* findUnwell(collector, name, place);
  }
}

function* findInCollector(status: CollectorStatus, of: string, place: Place, nowMs: number): Generator<Problem> {
  const { name: collector, result, sinceMs, message = '', lastRunAtMs, everyMs } = status;
  const where = { ...place, collector };
  if (result === 'failed') {
    const text = `${collector} of ${of} fails${toSince(sinceMs, nowMs)}: ${message}`;
    yield { kind: 'failing', ...where, text };
  } else if (result === 'success' && lastRunAtMs !== undefined && nowMs - lastRunAtMs > toPatienceMs(everyMs)) {
    const text = `${collector} of ${of} is late: it ended ${toAge(lastRunAtMs, nowMs)}, but is due every ${toDuration(everyMs)}`;
    yield { kind: 'late', ...where, text };
  } else if (result === 'success' && message !== '') {
    yield { kind: 'partial', ...where, text: `${collector} of ${of} is incomplete: ${message}` };
  }
}

/** Finds the server's own problems, as its answers report them. */
function* findUnwell({ name: collector, complaints }: CollectorStatus, of: string, place: Place): Generator<Problem> {
  for (const complaint of complaints) yield { kind: 'unwell', ...place, collector, text: `${of}: ${complaint}` };
}

function toUnreadable(server: string, text: string): Problem {
  return { kind: 'unreadable', server, text: `${server}: ${text}` };
}

/** Finds denied collectors, one sentence for each server: one policy allows all of them. */
function* findDenied(server: ServerStatus): Generator<Problem> {
  const denied = toTargets(server).flatMap(({ collectors }) => collectors.filter(({ reason }) => reason === 'denied'));
  const names = [...new Set(denied.map(({ name }) => name))];
  if (names.length === 0) return;
  const text = `${server.name}: the credentials may not read ${toList(names)}`;
  yield { kind: 'denied', server: server.name, text };
}

function* findHidden({ name: server, hidesMembers }: ServerStatus): Generator<Problem> {
  if (!hidesMembers) return;
  const text = `Several members of a cluster answer as ${server}: list them under members, or their counters are dropped`;
  yield { kind: 'hidden', server, text };
}

/** The alert on dropped series says the same. */
function* findLeftOut({ name: server, executions }: ServerStatus): Generator<Problem> {
  const { jobs, durations, room, limitedBy } = executions?.leftOut ?? nothingLeftOut;
  if (limitedBy === undefined) return;
  const count = (number: number): string => `${number >= leastUntold ? 'at least ' : ''}${toCount(number, 'job')}`;
  const parts = [
    ...(jobs === 0
      ? []
      : [`${count(jobs)} beyond the first ${room.jobs.toLocaleString('en')} without their own series`]),
    ...(durations === 0 ? [] : [`${count(durations)} without their own durations`]),
  ];
  yield { kind: 'left_out', server, text: `${server}: ${parts.join(', ')}: raise ${limitedBy}` };
}

const nothingLeftOut = { jobs: 0, durations: 0, room: { jobs: 0 }, limitedBy: undefined };
/** More of them are not told apart. */
const leastUntold = 1000;

/** Finds problems of traces; none if no traces are made. */
function* findInTraces(traces: TracesStatus | undefined, nowMs: number): Generator<Problem> {
  if (traces?.delivery === undefined) return;
  const { delivery, quarantine } = traces;
  if (delivery.failing !== undefined) {
    const { sinceMs, reason } = delivery.failing;
    yield { kind: 'undelivered', text: `Traces cannot be delivered${toSince(sinceMs, nowMs)}: ${reason}` };
  }
  if (quarantine > 0) {
    const text = `${quarantine === 1 ? '1 trace is' : `${quarantine} traces are`} quarantined: the trace backend rejects ${quarantine === 1 ? 'it' : 'them'}`;
    yield { kind: 'quarantined', text };
  }
}

/** Returns the time after which its series expire. */
function toPatienceMs(everyMs: number): number {
  return Math.max(3 * everyMs, 60_000);
}

function toSince(sinceMs: number | undefined, nowMs: number): string {
  return sinceMs === undefined ? '' : ` (since ${toTime(sinceMs, nowMs)}, ${toAge(sinceMs, nowMs)})`;
}

function toList(names: readonly string[]): string {
  const shown = names.slice(0, names.length > 4 ? 3 : 4);
  const rest = names.length - shown.length;
  const all = rest > 0 ? [...shown, `${rest} more`] : shown;
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(all);
}

/** A message may hold whatever a server sent. */
const longestText = 300;

function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text;
}
