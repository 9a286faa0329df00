import type { Credential } from '../world/access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { ok, parameter } from './answer.ts';
import { toObjectDate } from './dates.ts';
import { denied, missing } from './errors.ts';

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

export function oneToken(request: ApiRequest): Answer {
  const { policy, user } = request.caller;
  const id = parameter(request, 'id');
  // Below v19 the id is the token itself.
  const found = tokensOf(request).find(
    (credential) => (request.version < 19 ? credential.secret : credential.id) === id,
  );
  return found === undefined || (!policy.admin && found.creator !== user)
    ? missing(request, 'API Token ID', id)
    : ok(toToken(request, found));
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
