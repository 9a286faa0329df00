import { toAccessPolicy, toAdminRight } from '../api/access-policy.ts';
import type { ServerFacts } from '../api/contact.ts';
import { type Clock, within } from '../domain/clock.ts';
import type { Memories, Memory } from '../domain/memory.ts';
import { noPause, type Pause } from '../domain/pause.ts';
import type { Collector } from '../schedule/collector.ts';
import type { PollStatus } from '../schedule/scheduler.ts';
import type { Seen } from '../schedule/vitality.ts';
import type { Trouble } from './problem-kinds.ts';
import type {
  CollectorStatus,
  DeliveryStatus,
  DeniedToAll,
  ExecutionsOfServer,
  LeaseStatus,
  ServerStatus,
  Status,
  TargetStatus,
  TracesStatus,
  Watcher,
} from './status.ts';
import { toCommonState, toServerState } from './watcher.ts';

type Address = { readonly name: string; readonly url: string };

export type StatusParts = {
  readonly version: string;
  readonly servers: readonly (Address & { readonly members?: readonly Address[] })[];
  readonly config: {
    readonly collectors: Readonly<Record<string, { readonly enabled: boolean; readonly everyMs: number }>>;
    readonly alerts?: { readonly off: readonly string[] };
  };
  readonly collectors: readonly Pick<Collector, 'name' | 'reads'>[];
  readonly polls: () => readonly PollStatus[];
  readonly watched: (server: string) => Watched | undefined;
  /** Returns the lease of a server, as last read from the shared database. */
  readonly lease?: (server: string) => LeaseStatus | undefined;
  /** Returns the exporter that watches a server. If servers are not shared, the owner is always this exporter. */
  readonly watcherOf?: (server: string) => Watcher;
  readonly database?: () => Status['database'];
  /** Returns the state of trace delivery; undefined if no traces are made. */
  readonly delivery: () => DeliveryStatus | undefined;
  readonly state: Pick<Memories, 'recall'>;
  readonly spool: {
    readonly size: () => Promise<
      Pick<TracesStatus, 'oldestMs' | 'quarantinedBytes'> & Record<'traces' | 'bytes' | 'quarantinedTraces', number>
    >;
  };
  readonly startedAtMs: number;
  readonly loadedAtMs: () => number;
  readonly failedReload?: () => Status['failedReload'];
  readonly differing?: () => readonly string[];
  readonly clock: Pick<Clock, 'now' | 'after'>;
};

export type Watched = {
  /** Returns the facts of the first contact with the server or with a cluster member. */
  readonly facts: (member?: string) => ServerFacts | undefined;
  /** Returns the state of the server or of a cluster member according to vital polls. */
  readonly seen: (member?: string) => Seen | undefined;
  readonly executions: () => ExecutionsOfServer | undefined;
  readonly troubles?: () => readonly Trouble[];
  readonly rights?: { readonly now: () => ServerStatus['rights'] };
  /** Returns the number of projects in the last list; undefined before the first list. */
  readonly visibleProjects: () => number | undefined;
};

/** Reads the state of all watched servers, for pages and programs. */
export async function readStatus(parts: StatusParts, pause: Pause = noPause): Promise<Status> {
  const polls = Map.groupBy(parts.polls(), ({ key }) => key.server);
  let turn = Promise.resolve();
  const [traces, ...servers] = await Promise.all([
    readTraces(parts),
    ...parts.servers.map((server) => {
      turn = turn.then(pause);
      return turn.then(() => readServer(server, parts, polls.get(server.name) ?? []));
    }),
  ]);
  return {
    version: parts.version,
    atMs: parts.clock.now(),
    startedAtMs: parts.startedAtMs,
    loadedAtMs: parts.loadedAtMs(),
    servers,
    traces,
    failedReload: parts.failedReload?.(),
    differing: parts.differing?.() ?? [],
    alertsOff: parts.config.alerts?.off ?? [],
    database: parts.database?.(),
  };
}

/** The time limit for a page. A shared database may need much longer than a local one. */
const patienceMs = 2000;

/** Reads the sizes of traces. Returns undefined if the state cannot be read. */
function readTraces({ delivery, spool, clock }: StatusParts): Promise<TracesStatus | undefined> {
  return within(clock, patienceMs, spool.size()).then(
    ({ traces: waiting, bytes: waitingBytes, quarantinedTraces: quarantine, ...rest }) => ({
      ...rest,
      waiting,
      waitingBytes,
      quarantine,
      delivery: delivery(),
    }),
    () => undefined,
  );
}

async function readServer(
  server: StatusParts['servers'][number],
  parts: StatusParts,
  ofServer: readonly PollStatus[],
): Promise<ServerStatus> {
  const { name } = server;
  const watched = parts.watched(name);
  const lease = parts.lease?.(name);
  const watcher = parts.watcherOf?.(name) ?? { is: 'us' };
  const stateElsewhere = watcher.is === 'other' ? 'elsewhere' : 'unwatched';
  const own = ofServer.filter(({ key }) => key.member === undefined);
  const members = await Promise.all(
    (server.members ?? []).map((member) => {
      const ofMember = ofServer.filter(({ key }) => key.member === member.name);
      return readTarget(member, { ...parts, watched, key: { server: name, member: member.name }, polls: ofMember });
    }),
  );
  const target = await readTarget(server, { ...parts, watched, key: { server: name }, polls: own });
  const isSpread = members.length > 0 && !own.some(({ vital }) => vital);
  return {
    ...target,
    lease,
    watcher,
    ...(isSpread ? toCommonState(members) : {}),
    collectors: [...target.collectors, ...listOff(parts.config)],
    members,
    hidesMembers: members.length === 0 && watched?.facts()?.hidesMembers === true,
    troubles: watched?.troubles?.() ?? [],
    rights: watched?.rights?.now(),
    ...toSight(ofServer, parts, watched),
    ...(watcher.is === 'us'
      ? {}
      : { state: stateElsewhere, members: members.map((one) => ({ ...one, state: stateElsewhere })) }),
  };
}

type TargetParts = Pick<StatusParts, 'state' | 'clock'> & {
  readonly watched: Watched | undefined;
  readonly key: { readonly server: string; readonly member?: string };
  readonly polls: readonly PollStatus[];
};

async function readTarget({ name, url }: Address, parts: TargetParts): Promise<TargetStatus> {
  const { key, polls, watched, state, clock } = parts;
  const { server, member } = key;
  const { release, apiVersion, dialect, startedAtMs } = watched?.facts(member) ?? {};
  const owner = member === undefined ? server : `${server}/${member}`;
  const isKnown = polls.some(({ key: { collector }, last }) => collector === 'execution-mode' && isSuccess(last));
  const { mode, changedAtMs } = isKnown ? await recallMode({ state, clock }, owner) : {};
  return {
    name,
    url,
    ...toServerState(watched?.seen(member)),
    release,
    apiVersion,
    dialect,
    startedAtMs,
    executionMode: typeof mode === 'string' ? mode : undefined,
    executionModeSinceMs: typeof changedAtMs === 'number' ? changedAtMs : undefined,
    collectors: polls.map((poll) => toCollectorStatus(poll, isOutdated(poll, watched?.seen(member), clock.now()))),
  };
}

/** Reads the last change of the mode. Returns no change if the state cannot be read. */
function recallMode({ state, clock }: Pick<StatusParts, 'state' | 'clock'>, server: string): Promise<Memory> {
  return within(clock, patienceMs, state.recall({ server, collector: 'execution-mode' })).then(
    (memory) => memory ?? {},
    () => ({}),
  );
}

function isSuccess(last: PollStatus['last']): boolean {
  return last?.outcome.result === 'success';
}

/** Reports whether a poll failed only because the server was down; such a poll is repeated within a minute after the recovery. */
function isOutdated({ last }: PollStatus, seen: Seen | undefined, nowMs: number): boolean {
  if (seen?.state !== 'up' || last?.outcome.result !== 'failed') return false;
  const backForMs = nowMs - seen.sinceMs;
  return last.endedAtMs <= seen.sinceMs && backForMs >= 0 && backForMs < 2 * 60_000;
}

function toCollectorStatus(poll: PollStatus, isOld: boolean): CollectorStatus {
  const { key, everyMs, last, sinceMs, nextRunAtMs, isUnderWay } = poll;
  const common = { name: key.collector, everyMs, isUnderWay, sinceMs, nextRunAtMs, lastRunAtMs: last?.endedAtMs };
  const { isSpread } = last ?? {};
  const taken = { tookMs: last?.tookMs, lastSuccessAtMs: last?.succeededAtMs, ...(isSpread && { isSpread }) };
  const bare = { ...common, ...taken, complaints: [] };
  if (last === undefined || isOld) return { ...bare, result: 'waiting' };
  const { outcome, endedAtMs, restsForMs, beyondLimit } = last;
  if (outcome.result === 'success') {
    const { series, note: message, complaints = [] } = outcome;
    return { ...bare, result: 'success', series, beyondLimit, message, complaints };
  }
  const { message } = outcome;
  if (outcome.result === 'failed') return { ...bare, result: 'failed', reason: outcome.kind, message };
  // A denied poll skips some of its scheduled times.
  const askedAgainAtMs = nextRunAtMs === undefined ? undefined : Math.max(nextRunAtMs, endedAtMs + restsForMs);
  return { ...bare, result: 'off', reason: outcome.reason, message, nextRunAtMs: askedAgainAtMs };
}

function listOff({ collectors }: StatusParts['config']): CollectorStatus[] {
  const off = Object.entries(collectors).filter(([, { enabled }]) => !enabled);
  return off.map(([name, { everyMs }]) => ({
    name,
    result: 'off',
    reason: 'config',
    complaints: [],
    everyMs,
    isUnderWay: false,
  }));
}

type SightOfServer = Pick<ServerStatus, 'executions' | 'visibleProjects' | 'missingPolicy' | 'needsAdmin'>;

/** Describes what the credentials of a server cannot read, in words and as a policy that permits it. */
function toSight(polls: readonly PollStatus[], parts: StatusParts, watched: Watched | undefined): SightOfServer {
  const executions = watched?.executions();
  const visibleProjects = watched?.visibleProjects();
  const isBlind = (collector: string): boolean =>
    visibleProjects === 0 || (collector === 'executions' && executions !== undefined && isInPart(executions));
  const lacking = polls.filter(({ key, last }) => isBlind(key.collector) || isDenied(key.collector, last));
  const names = new Set(lacking.map(({ key }) => key.collector));
  const { missingPolicy, needsAdmin } = toDenied(names, parts, watched?.facts()?.dialect);
  const denied = new Set(polls.flatMap(({ key, last }) => (isDenied(key.collector, last) ? [key.collector] : [])));
  return {
    executions,
    visibleProjects,
    missingPolicy,
    needsAdmin: needsAdmin.filter(({ collector }) => denied.has(collector)),
  };
}

function isInPart({ hidden, runningSight, runningDenied }: ExecutionsOfServer): boolean {
  return hidden.length > 0 || runningDenied.length > 0 || runningSight === 'denied';
}

/** Returns the policy for all denied endpoints, and the rights that only administrators have. */
function toDenied(
  lacking: ReadonlySet<string>,
  { collectors }: StatusParts,
  dialect: ServerFacts['dialect'],
): Pick<ServerStatus, 'missingPolicy' | 'needsAdmin'> {
  const denied = collectors.filter(({ name }) => lacking.has(name));
  const needsAdmin = denied.flatMap(({ name: collector, reads }): DeniedToAll[] => {
    const right = reads.map(toAdminRight).find((one) => one !== undefined);
    return right === undefined ? [] : [{ collector, right }];
  });
  const reads = denied.flatMap((collector) => collector.reads).filter((read) => toAdminRight(read) === undefined);
  return { missingPolicy: reads.length === 0 ? undefined : toAccessPolicy(reads, dialect), needsAdmin };
}

/** Reports whether requests of a poll were denied. Notes of the executions collector have other reasons. */
function isDenied(collector: string, last: PollStatus['last']): boolean {
  if (last?.outcome.result === 'success') return last.outcome.note !== undefined && collector !== 'executions';
  return last?.outcome.result === 'off' && last.outcome.reason === 'denied';
}
