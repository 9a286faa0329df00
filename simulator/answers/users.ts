import type { Credential } from '../world/access.ts';
import { type Answer, type ApiRequest, denied, fail, invalidRequest, missing, ok, parameter } from './answer.ts';
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

/** userclass/… (API reference, "User class objects" and "User classes"), of the commercial edition. */
export function userClass(request: ApiRequest): Answer {
  const what = parameter(request, 'what');
  switch (what) {
    case 'enabled':
      return ok({ enabled: true });
    case 'self':
      return ok(toAssignment(request, request.caller.user));
    case 'available':
      return refuse(request) ?? ok({ classes });
    case 'allocations':
    case 'state':
      return refuse(request) ?? ok(toAllocations(request));
    default:
      return invalidRequest(request.world, `/api/${request.version}/userclass/${what}`);
  }
}

/** Everyone may read their own class, admins all. */
export function userClassOf(request: ApiRequest): Answer {
  const login = parameter(request, 'user');
  const refusal = login === request.caller.user ? undefined : refuse(request);
  return refusal ?? ok(toAssignment(request, login));
}

const classes = [
  { name: 'full', title: 'Full', description: 'May do everything' },
  { name: 'viewer', title: 'Viewer', description: 'May look at everything' },
];
const entitled: Readonly<Record<string, number>> = { full: 10, viewer: 100 };

function refuse(request: ApiRequest): Answer | undefined {
  return request.caller.policy.admin ? undefined : denied(request, 'admin', 'Resource', 'user');
}

function toAssignment({ world }: ApiRequest, username: string) {
  return { username, userclass: world.settings.userClasses[username] ?? 'NONE' };
}

function toAllocations({ world }: ApiRequest) {
  const allocations = world.settings.userClasses;
  const summary: Record<string, number> = {};
  for (const name of Object.values(allocations)) summary[name] = (summary[name] ?? 0) + 1;
  const over = Object.entries(summary).filter(([name, count]) => count > (entitled[name] ?? 0));
  const isFull = over.length > 0;
  return {
    allocations,
    state: isFull ? 'exceeded' : 'ok',
    message: isFull ? 'More users have a class than it allows' : '',
    summary,
    exceeded: Object.fromEntries(over.map(([name, count]) => [name, count - (entitled[name] ?? 0)])),
    entitled,
  };
}

/** tokens and tokens/{user} (API reference, "API token"): never the secret, expired ones included. */
export function tokenList(request: ApiRequest): Answer {
  const { policy, user: self } = request.caller;
  const user = parameter(request, 'user');
  if (user !== '' && user !== self && !policy.admin) return denied(request, 'admin', 'API Tokens for User', user);
  const visible = tokensOf(request).filter(
    ({ creator }) => (policy.admin || creator === self) && (user === '' || creator === user),
  );
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
