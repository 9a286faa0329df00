import { toAge, toTime } from '../domain/ages.ts';
import { toCount } from '../domain/format.ts';
import type { Seen } from '../schedule/vitality.ts';
import { isWell } from './problem-kinds.ts';
import type { Elsewhere, LeaseStatus, ServerState, ServerStatus, TargetStatus, Watcher } from './status.ts';

/** The URLs of this exporter: the configured URL, and the URL that works on its own machine. */
type Own = { readonly externalUrl: string | undefined; readonly url: string };

export function toWatcher(lease: LeaseStatus | undefined, own: Own): Watcher {
  if (lease === undefined) return { is: 'nobody' };
  const { isOwned, owner: address, expiresInMs } = lease;
  if (isOwned) return { is: 'us' };
  if (expiresInMs <= 0) return { is: 'nobody' };
  const isOwn = toBare(address) === toBare(own.externalUrl ?? own.url);
  const isHere = isOfOneMachine(address) && !isOfOneMachine(own.externalUrl);
  return { is: 'other', address, page: isOwn || isHere ? undefined : toBare(address) };
}

/** Reports whether a URL works only on the exporter's machine, as by default (without `web.external_url`). */
function isOfOneMachine(address = ''): boolean {
  const { hostname = '' } = URL.parse(address) ?? {};
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

function toBare(address: string): string {
  return address.replace(/\/$/, '');
}

/** Describes which exporter watches a server instead of this exporter, without a full stop. */
export function toWatcherText({ server, watcher }: Elsewhere): string {
  if (watcher.is === 'nobody') return `No exporter watches "${server}" at the moment`;
  const { address, page } = watcher;
  const how = page === undefined ? ', which has no web.external_url of its own' : '';
  return `"${server}" is watched by another exporter: ${address}${how}`;
}

export function isWatchedHere({ state }: Pick<ServerStatus, 'state'>): boolean {
  return state !== 'elsewhere' && state !== 'unwatched';
}

/** Reports whether there is no problem; null if another exporter watches the server, so that the answer is unknown here. */
export function judge(
  { servers }: { servers: readonly Pick<ServerStatus, 'state'>[] },
  problems: Parameters<typeof isWell>[0],
): boolean | null {
  if (!isWell(problems)) return false;
  return servers.length > 0 && servers.every(isWatchedHere) ? true : null;
}

/** Returns the headline if there is no problem, and other exporters watch some of the servers. */
export function toHeadlineElsewhere(own: number, all: number, only: string): string {
  if (all === 0) return 'This shard has no server';
  if (all === 1) return `${only} is watched by another exporter`;
  return own === 0
    ? `Other exporters watch the ${all} servers`
    : `No problem seen; this exporter watches ${own} of ${all} servers`;
}

export function toSummaryElsewhere(others: number): string {
  return others === 0 ? '' : ` ${toCount(others, 'server')} ${others === 1 ? 'is' : 'are'} watched by other exporters.`;
}

/** A server that does not respond, refuses the credentials or shows no project, so that its data are old. */
export type Silence = {
  readonly server: string;
  readonly state: 'down' | 'refused' | 'empty';
  readonly sinceMs: number;
  readonly nowMs: number;
};

type StateOfTarget = Pick<TargetStatus, 'state' | 'sinceMs' | 'message'>;

/** Returns the state that `automation_up` and `automation_credentials_accepted` show. */
export function toServerState(seen: Seen | undefined): StateOfTarget {
  return seen ?? { state: 'waiting', sinceMs: undefined, message: undefined };
}

/** Returns the state of a cluster whose members are watched separately. A cluster is up if one of its members is up. */
export function toCommonState(members: readonly StateOfTarget[]): StateOfTarget {
  const best = bestFirst.find((state) => members.some((one) => one.state === state)) ?? 'waiting';
  const since = members.flatMap(({ state, sinceMs }) => (state === best && sinceMs !== undefined ? [sinceMs] : []));
  const isAway = best === 'refused' || best === 'down';
  return { state: best, sinceMs: isAway && since.length > 0 ? Math.max(...since) : undefined, message: undefined };
}

const bestFirst: readonly ServerState[] = ['up', 'waiting', 'refused', 'down'];

export function toSilence(
  server: string,
  { state, sinceMs }: Pick<StateOfTarget, 'state' | 'sinceMs'>,
  { nowMs, emptySinceMs }: { readonly nowMs: number; readonly emptySinceMs: number | undefined },
): Silence | undefined {
  if ((state === 'down' || state === 'refused') && sinceMs !== undefined) return { server, state, sinceMs, nowMs };
  return emptySinceMs === undefined ? undefined : { server, state: 'empty', sinceMs: emptySinceMs, nowMs };
}

/** Describes since when a server has been silent, without a full stop. */
export function toSilenceText({ server, state, sinceMs, nowMs }: Silence): string {
  const since = `since ${toTime(sinceMs, nowMs)} (${toAge(sinceMs, nowMs)})`;
  if (state === 'down') return `No answer from "${server}" ${since}`;
  return `"${server}" ${state === 'empty' ? 'has shown no project' : 'has refused the credentials'} ${since}`;
}
