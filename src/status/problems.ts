import { toAge, toDuration, toTime } from '../domain/ages.ts';
import { toCapital, toCount, toList } from '../domain/format.ts';
import { serverLimits, toPatienceMs } from './limits.ts';
import { isWell, kindsOfProblems, markOff, type ProblemKind } from './problem-kinds.ts';
import { listUnreadable } from './running.ts';
import type { CollectorStatus, DeliveryStatus, ServerStatus, Status, TargetStatus, TracesStatus } from './status.ts';
import { isWatchedHere, toHeadlineElsewhere, toSummaryElsewhere } from './watcher.ts';

export type Problem = {
  readonly kind: ProblemKind;
  readonly isOff?: true;
  /** The name of the server; undefined for problems with the traces of the exporter. */
  readonly server?: string;
  readonly member?: string;
  readonly collector?: string;
  /** The title of at most 59 characters, because some readers see only the title. */
  readonly title: string;
  /** The start, the reason, and what to do; undefined if the title is enough. */
  readonly detail: string | undefined;
};

/** Returns all problems in the order of the page, worst first. */
export function findProblems(status: Status): readonly Problem[] {
  const { servers, traces, atMs, failedReload, differing, database, alertsOff } = status;
  const ofServers = servers.flatMap((server): Problem[] => [
    ...findIn(server, { server: server.name }, atMs),
    ...server.members.flatMap((member) => [...findIn(member, { server: server.name, member: member.name }, atMs)]),
    ...findTroubles(server),
    ...findUnreadable(server),
    ...findDenied(server),
    ...findHidden(server),
    ...findLeftOut(server),
  ]);
  const problems = [
    ...ofServers,
    ...findInDatabase(database, atMs),
    ...findInReload(failedReload, atMs),
    ...findDifference(differing),
    ...findInTraces(traces, atMs),
  ];
  const brief = problems.map((problem) => toBrief(problem));
  const sorted = Object.keys(kindsOfProblems).flatMap((kind) => brief.filter((problem) => problem.kind === kind));
  return markOff(sorted, alertsOff);
}

export function toSentences({ title, detail }: Pick<Problem, 'title' | 'detail'>): string {
  const sentence = /[.…]$/.test(title) ? title : `${title}.`;
  return detail === undefined ? sentence : `${sentence} ${detail.replace(/[.]?$/, '.')}`;
}

/** Returns the worst problem in a few words, or a sentence that there is none. */
export function toHeadline({ servers }: Pick<Status, 'servers'>, problems: readonly Problem[]): string {
  const [worst] = problems;
  const [first, second] = servers;
  if (worst === undefined || isWell(problems)) {
    const own = servers.filter(isWatchedHere).length;
    if (own === 0 || own < servers.length) return toHeadlineElsewhere(own, servers.length, toQuoted(first?.name ?? ''));
    return second === undefined
      ? `No problem seen on ${toQuoted(first?.name ?? '')}`
      : `No problem seen on ${servers.length} servers`;
  }
  const alike = listAlike(worst, problems);
  return alike.length > 1 && worst.kind in ofSeveral
    ? `${alike.length} of ${servers.length} servers ${ofSeveral[worst.kind]}`
    : worst.title;
}

/** Lists the servers (not members) with the same problem. */
export function listAlike({ kind }: Problem, problems: readonly Problem[]): readonly string[] {
  if (!(kind in ofSeveral)) return [];
  return problems.flatMap((one) =>
    one.kind === kind && one.member === undefined && one.server !== undefined ? [one.server] : [],
  );
}

const ofSeveral: Readonly<Partial<Record<ProblemKind, string>>> = {
  unwatched: 'are watched by no exporter',
  down: 'are not responding',
  refused: 'reject the credentials',
  passive: 'are passive and run nothing',
  waiting: 'have not responded yet',
};

export function toSummary({ servers }: Pick<Status, 'servers'>): string {
  const own = servers.filter(isWatchedHere);
  if (servers.length === 0) return 'The other shards have all servers of the configuration.';
  if (own.length === 0) return 'The page of that exporter shows its state.';
  const targets = own.flatMap(toTargets);
  const succeeded = targets.flatMap(({ collectors }) => collectors.filter(({ result }) => result === 'success'));
  const isActive = own.every((server) => toTargets(server).some(({ executionMode }) => executionMode === 'active'));
  const one = `It answers${isActive ? ' and can run jobs' : ''}`;
  const all = `All answer${isActive ? ' and can run jobs' : ''}`;
  const upToDate = `${toCount(succeeded.length, 'collector')} ${succeeded.length === 1 ? 'is' : 'are'} up to date`;
  return `${own.length === 1 ? one : all}; ${upToDate}.${toSummaryElsewhere(servers.length - own.length)}`;
}

function toTargets(server: ServerStatus): readonly TargetStatus[] {
  return [server, ...server.members];
}

/** Returns a problem if the shared database does not respond, because nothing is counted meanwhile. */
function findInDatabase(database: Status['database'], nowMs: number): Problem[] {
  if (database === undefined) return [];
  const { sinceMs, message } = database;
  return [
    { kind: 'database', title: 'The shared database does not respond', detail: join(toSince(sinceMs, nowMs), message) },
  ];
}

/** Returns a problem if a reload failed, because the new configuration is not in use. */
function findInReload(failed: Status['failedReload'], nowMs: number): Problem[] {
  if (failed === undefined) return [];
  const [first = '', ...others] = failed.complaints;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const detail = `The reload ${toAge(failed.atMs, nowMs)} failed, so the previous configuration stays in force: ${first}${more}`;
  return [{ kind: 'not_reloaded', title: 'The configuration was not reloaded', detail }];
}

function findDifference(addresses: readonly string[] = []): Problem[] {
  if (addresses.length === 0) return [];
  const detail = `Reload every exporter with the same configuration; others: ${addresses.join(', ')}`;
  return [{ kind: 'differs', title: 'Another exporter has a different configuration', detail }];
}

const howWatched = 'An exporter acquires the server when its lease expires, if the database responds';

type Place = { readonly server: string; readonly member?: string };

function* findIn(target: TargetStatus, place: Place, nowMs: number): Generator<Problem> {
  const { state, message, executionMode, executionModeSinceMs, collectors } = target;
  const name = toQuoted(place.member === undefined ? place.server : `${place.server}/${place.member}`);
  const since = toSince(target.sinceMs, nowMs);
  if (state === 'unwatched' && place.member === undefined)
    yield { kind: 'unwatched', ...place, title: `${name} is watched by no exporter`, detail: howWatched };
  if (!isWatchedHere(target)) return;
  if (state === 'waiting')
    yield { kind: 'waiting', ...place, title: `${name} has not responded yet`, detail: undefined };
  if (state === 'refused' || state === 'down') {
    const title = `${name} ${state === 'refused' ? 'rejects the credentials' : 'is not responding'}`;
    yield { kind: state, ...place, title, detail: join(since, message) };
    return;
  }
  const detail = toSince(executionModeSinceMs, nowMs);
  if (executionMode === 'passive')
    yield { kind: 'passive', ...place, title: `${name} is passive and runs nothing`, detail };
  else if (executionModeSinceMs !== undefined && nowMs - executionModeSinceMs < serverLimits.recentlyMs) {
    const detail = `Until ${toTime(executionModeSinceMs, nowMs)} (${toAge(executionModeSinceMs, nowMs)})`;
    yield { kind: 'was_passive', ...place, title: `${name} was passive`, detail };
  }
  for (const collector of collectors) {
    yield* findInCollector(collector, name, place, nowMs);
    yield* findUnwell(collector, name, place);
  }
}

function* findInCollector(status: CollectorStatus, of: string, place: Place, nowMs: number): Generator<Problem> {
  const { name: collector, result, sinceMs, message = '', lastRunAtMs, everyMs, beyondLimit = 0 } = status;
  const where = { ...place, collector };
  if (result === 'failed') {
    const detail = join(toSince(sinceMs, nowMs), message);
    yield { kind: 'failing', ...where, title: `${of}: ${collector} fails`, detail };
  } else if (result === 'success' && lastRunAtMs !== undefined && nowMs - lastRunAtMs > toPatienceMs(everyMs)) {
    const detail = `The last poll ended ${toAge(lastRunAtMs, nowMs)}; the interval is ${toDuration(everyMs)}`;
    yield { kind: 'late', ...where, title: `${of}: ${collector} is late`, detail };
  } else if (result === 'success' && message !== '') {
    yield { kind: 'partial', ...where, title: `${of}: ${collector} is incomplete`, detail: message };
  }
  // Dropped series of the collector `executions` are a problem of the server, which counts their jobs.
  const detail = `Beyond collectors.${collector}.max_series: ${beyondLimit.toLocaleString('en')} series`;
  if (result === 'success' && beyondLimit > 0 && collector !== 'executions')
    yield { kind: 'left_out', ...where, title: `${of}: series of ${collector} are dropped`, detail };
}

const kindOfComplaints: Readonly<Record<string, ProblemKind>> = { 'log-storage': 'logs', tokens: 'token' };

/** Returns problems that the server reports in its responses. */
function* findUnwell({ name: collector, complaints }: CollectorStatus, of: string, place: Place): Generator<Problem> {
  for (const complaint of complaints) {
    yield {
      kind: kindOfComplaints[collector] ?? 'unwell',
      ...place,
      collector,
      title: `${of}: ${complaint}`,
      detail: undefined,
    };
  }
}

/** Returns the problems of a server that responds. Problems of a server that does not respond may be over. */
function* findTroubles(server: ServerStatus): Generator<Problem> {
  const { name, state, troubles = [] } = server;
  if (state !== 'up') return;
  const modes = toTargets(server).flatMap((one) => (one.state === 'up' ? (one.executionMode ?? []) : []));
  for (const { kind, member, text, detail } of troubles) {
    // While the server or each member is passive, no job can succeed.
    if (kind === 'jobs_stale' && modes.length > 0 && modes.every((mode) => mode === 'passive')) continue;
    const of = toQuoted(member === undefined ? name : `${name}/${member}`);
    yield { kind, server: name, ...(member === undefined ? {} : { member }), title: `${of}: ${text}`, detail };
  }
}

/** Returns hidden executions as one problem, because one access policy makes all of them visible. */
function* findUnreadable(server: ServerStatus): Generator<Problem> {
  const texts = listUnreadable(server);
  if (texts.length === 0) return;
  const detail = toCapital(texts.join('; '));
  const name = toQuoted(server.name);
  // If no project is visible, the other problems of the server are old and may be over.
  if (server.visibleProjects === 0)
    yield { kind: 'blind', server: server.name, title: `${name} shows no project`, detail };
  else yield { kind: 'unreadable', server: server.name, title: `${name} does not show all executions`, detail };
}

/**
 * Returns denied collectors as one problem for each server, because one policy permits all of them. Collectors that
 * need an administrator are a note, because the exporter should not have rights of administrators.
 */
function* findDenied(server: ServerStatus): Generator<Problem> {
  const denied = toTargets(server).flatMap(({ collectors }) => collectors.filter(({ reason }) => reason === 'denied'));
  const optional = new Set(server.needsAdmin.map(({ collector }) => collector));
  const names = [...new Set(denied.map(({ name }) => name))].filter((name) => !optional.has(name));
  if (names.length === 0) return;
  const isOne = names.length === 1;
  const sentence = `the credentials cannot read ${toList(names)}`;
  const title = `${toQuoted(server.name)}: ${isOne ? sentence : `${names.length} collectors are denied`}`;
  yield { kind: 'denied', server: server.name, title, detail: isOne ? undefined : toCapital(sentence) };
}

function* findHidden({ name: server, hidesMembers }: ServerStatus): Generator<Problem> {
  if (!hidesMembers) return;
  const detail = 'Their counters are dropped until the configuration lists the members of the cluster';
  yield { kind: 'hidden', server, title: `Several members answer as ${toQuoted(server)}`, detail };
}

/** Returns jobs without series of their own as a problem. */
function* findLeftOut({ name: server, executions }: ServerStatus): Generator<Problem> {
  const { jobs, durations, room, limitedBy } = executions?.leftOut ?? nothingLeftOut;
  if (limitedBy === undefined) return;
  const count = (number: number): string => `${number >= minUntold ? 'at least ' : ''}${toCount(number, 'job')}`;
  const parts = [
    ...(jobs === 0
      ? []
      : [`${count(jobs)} beyond the first ${room.jobs.toLocaleString('en')} without their own series`]),
    ...(durations === 0 ? [] : [`${count(durations)} without duration series`]),
  ];
  const detail = toCapital(`${parts.join(', ')}: raise ${limitedBy}`);
  yield { kind: 'left_out', server, title: `${toQuoted(server)}: jobs without series of their own`, detail };
}

const nothingLeftOut = { jobs: 0, durations: 0, room: { jobs: 0 }, limitedBy: undefined };
/** A greater number of jobs is not counted exactly. */
const minUntold = 1000;

function* findInTraces(traces: TracesStatus | undefined, nowMs: number): Generator<Problem> {
  if (traces?.delivery === undefined) return;
  const { delivery, quarantine } = traces;
  const { sinceMs, reason, what = 'Traces' }: Partial<NonNullable<DeliveryStatus['failing']>> = delivery.failing ?? {};
  if (reason !== undefined)
    yield { kind: 'undelivered', title: `${what} cannot be delivered`, detail: join(toSince(sinceMs, nowMs), reason) };
  if (quarantine > 0) {
    const title = quarantine === 1 ? '1 trace is quarantined' : `${quarantine} traces are quarantined`;
    yield { kind: 'quarantined', title, detail: `The trace backend rejects ${quarantine === 1 ? 'it' : 'them'}` };
  }
}

function toSince(sinceMs: number | undefined, nowMs: number): string | undefined {
  return sinceMs === undefined ? undefined : `Since ${toTime(sinceMs, nowMs)} (${toAge(sinceMs, nowMs)})`;
}

function join(...parts: readonly (string | undefined)[]): string | undefined {
  const said = parts.filter((part) => part !== undefined && part !== '');
  return said.length === 0 ? undefined : said.join(': ');
}

/** Quotes a name. Shortens a long name, so that the title has room for the problem. */
function toQuoted(name: string): string {
  return `"${cut(name, maxNameLength)}"`;
}

/** Cuts a long title, such as one with a message of the server. If a title is shortened, the detail has the whole text. */
function toBrief({ title, detail, ...problem }: Problem): Problem {
  const brief = cut(title, maxTitleLength);
  const whole = brief === title ? detail : join(title, detail);
  return { ...problem, title: brief, detail: whole === undefined ? undefined : cut(whole, maxDetailLength) };
}

const maxNameLength = 24;
const maxTitleLength = 59;
const maxDetailLength = 300;

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1).toWellFormed()}…` : text;
}
