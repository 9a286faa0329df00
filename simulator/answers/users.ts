import type { Answer, ApiRequest } from './answer.ts';
import { ok, parameter } from './answer.ts';
import { toObjectDate } from './dates.ts';
import { denied, fail, missing } from './errors.ts';

/** user/list (API reference, "Users"), for system admins. */
export function userList(request: ApiRequest): Answer {
  const { world, caller, version } = request;
  if (!caller.policy.systemAdmin) {
    return fail(request, 403, 'request.error.unauthorized.message', 'Not authorized to list users');
  }
  const lastJobs = new Map<string, number>();
  for (const { user, startedAtMs } of world.executions.values()) {
    lastJobs.set(user, Math.max(startedAtMs, lastJobs.get(user) ?? 0));
  }
  const list = userNames(request).map((login) => {
    const profile = toProfile(login);
    const lastMs = lastJobs.get(login);
    const created = toObjectDate(createdMs, world.release);
    const tokens = [...world.credentials.values()].filter(
      ({ user, kind }) => user === login && kind === 'token',
    ).length;
    const lastJob = lastMs === undefined ? null : toObjectDate(lastMs, world.release);
    const times = { created, updated: created, lastJob, tokens };
    return { ...profile, ...(version >= 27 ? times : {}), ...(version >= 53 ? { lastLogin: null } : {}) };
  });
  return ok(list);
}

export function userInfo(request: ApiRequest): Answer {
  const { caller } = request;
  const login = parameter(request, 'user') || caller.user;
  if (login !== caller.user && !caller.policy.systemAdmin) return denied(request, 'admin', 'User', login);
  return userNames(request).includes(login) ? ok(toProfile(login)) : missing(request, 'User', login);
}

export function userRoles({ caller }: ApiRequest): Answer {
  return ok({ roles: caller.policy.roles });
}

const createdMs = Date.UTC(2025, 2, 3, 9, 30, 0);
const people = ['amira', 'jonas', 'lee'];

function userNames({ world }: ApiRequest): string[] {
  return [...new Set([...people, ...[...world.credentials.values()].map(({ user }) => user)])].sort();
}

function toProfile(login: string) {
  return { login, firstName: null, lastName: null, email: people.includes(login) ? `${login}@example.org` : null };
}
