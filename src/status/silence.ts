import { toAge, toTime } from '../domain/ages.ts';
import type { Seen } from '../schedule/vitality.ts';
import type { ServerState, TargetStatus } from './status.ts';

/** A server that does not answer, or refuses the credentials: what is known of it is as of its last answer. */
export type Silence = {
  readonly server: string;
  readonly state: 'down' | 'refused';
  readonly sinceMs: number;
  readonly nowMs: number;
};

export type StateOfTarget = Pick<TargetStatus, 'state' | 'sinceMs' | 'message'>;

/** Returns the state that `automation_up` and `automation_credentials_accepted` show. */
export function toServerState(seen: Seen | undefined): StateOfTarget {
  return seen ?? { state: 'waiting', sinceMs: undefined, message: undefined };
}

/** A cluster whose members are watched one by one is up while one of them is. */
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
  nowMs: number,
): Silence | undefined {
  if ((state !== 'down' && state !== 'refused') || sinceMs === undefined) return undefined;
  return { server, state, sinceMs, nowMs };
}

/** Says since when a server has been silent, without a full stop. */
export function toSilenceText({ server, state, sinceMs, nowMs }: Silence): string {
  const since = `since ${toTime(sinceMs, nowMs)} (${toAge(sinceMs, nowMs)})`;
  return state === 'down' ? `No answer from "${server}" ${since}` : `"${server}" has refused the credentials ${since}`;
}
