import type { Credential } from '../world/access.ts';
import { type Answer, type ApiRequest, denied, fail, ok } from './answer.ts';
import { toObjectDate } from './dates.ts';

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
  return ok(toProfile(request.caller.user));
}

const createdMs = Date.UTC(2025, 2, 3, 9, 30, 0);
const people = ['amira', 'jonas', 'lee'];

function userNames({ world }: ApiRequest): string[] {
  return [...new Set([...people, ...[...world.credentials.values()].map(({ user }) => user)])].sort();
}

function toProfile(login: string) {
  return { login, firstName: null, lastName: null, email: people.includes(login) ? `${login}@example.org` : null };
}

/** userclass/state (API reference, "User classes"), of the commercial edition. */
export function userClass(request: ApiRequest): Answer {
  return request.caller.policy.admin ? ok(toAllocations(request)) : denied(request, 'admin', 'Resource', 'user');
}

const entitled: Readonly<Record<string, number>> = { full: 10, viewer: 100 };

function toAllocations({ world }: ApiRequest) {
  const allocations = world.settings.userClasses;
  const summary: Record<string, number> = {};
  for (const name of Object.values(allocations)) summary[name] = (summary[name] ?? 0) + 1;
  const over = Object.entries(summary).filter(([name, count]) => count > (entitled[name] ?? 0));
  const isFull = over.length > 0;
  return {
    allocations,
    state: isFull ? 'exceeded' : 'ok',
    message: isFull ? 'More users have a class than the licence allows' : '',
    summary,
    exceeded: Object.fromEntries(over.map(([name, count]) => [name, count - (entitled[name] ?? 0)])),
    entitled,
  };
}

/** tokens (API reference, "API token"): never the secret; expired tokens are included. */
export function tokenList(request: ApiRequest): Answer {
  const { policy, user: self } = request.caller;
  const visible = tokensOf(request).filter(({ creator }) => policy.admin || creator === self);
  return ok(visible.map((credential) => toToken(request, credential)));
}

function tokensOf({ world }: ApiRequest): Credential[] {
  return [...world.credentials.values()].filter(({ kind }) => kind === 'token');
}

function toToken(
  { version, world, nowMs }: ApiRequest,
  { id, secret, user, creator, name, policy, expiresAtMs }: Credential,
) {
  if (version < 19) return { user, id: secret };
  return {
    id,
    creator,
    user,
    roles: policy.roles,
    ...(name !== undefined && version >= 37 ? { name } : {}),
    ...(expiresAtMs === undefined ? {} : { expiration: toObjectDate(expiresAtMs, world.release) }),
    expired: expiresAtMs !== undefined && expiresAtMs <= nowMs,
  };
}
