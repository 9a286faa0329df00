import { isAnswer, openProject, refuseSystem } from './access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { href, ok, parameter } from './answer.ts';
import { denied, missing } from './errors.ts';

/** system/acl/ (Document A, 2.10). */
export function systemAcls(request: ApiRequest): Answer {
  return refuseSystem(request) ?? ok(toAcls(request, 'system/acl'));
}

export function projectAcls(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) {
    return project;
  }
  return request.caller.policy.configure
    ? ok(toAcls(request, `project/${encodeURIComponent(project.name)}/acl`))
    : denied(request, 'read', 'ACL for Project', project.name);
}

/** storage/keys/{path} (Document A, 2.9): one level per request, sizes of secrets hidden. */
export function keyStorage(request: ApiRequest): Answer {
  const path = ['keys', parameter(request, 'path')]
    .filter((part) => part !== '')
    .join('/')
    .replace(/\/$/, '');
  if (!request.caller.policy.systemRead) {
    return denied(request, 'read', 'Path', path);
  }
  const key = keys.find((candidate) => candidate.path === path);
  if (key !== undefined) {
    return ok(toKey(request, key));
  }
  const below = keys.filter((candidate) => candidate.path.startsWith(`${path}/`));
  if (below.length === 0 && path !== 'keys') {
    return missing(request, 'Key', path);
  }
  const children = new Map<string, unknown>();
  for (const candidate of below) {
    const rest = candidate.path.slice(path.length + 1).split('/');
    const childPath = `${path}/${rest[0] ?? ''}`;
    children.set(childPath, rest.length === 1 ? toKey(request, candidate) : toFolder(request, childPath));
  }
  return ok({ ...toFolder(request, path), ...(children.size === 0 ? {} : { resources: [...children.values()] }) });
}

/** feature/ and feature/{name} (v42): an unknown feature is off, not missing. */
export function features(request: ApiRequest): Answer {
  const name = parameter(request, 'name');
  return name === ''
    ? ok(known)
    : ok({ name, enabled: known.find((feature) => feature.name === name)?.enabled ?? false });
}

/** userclass/… (Document A, 2.7), of the commercial edition. */
export function userClass(request: ApiRequest): Answer {
  switch (parameter(request, 'what')) {
    case 'available':
      return ok({ classes: [{ name: 'full', title: 'Full', description: 'May do everything' }] });
    case 'enabled':
      return ok({ enabled: true });
    case 'self':
      return ok({ username: request.caller.user, userclass: 'full' });
    default:
      return ok({
        allocations: { [request.caller.user]: 'full' },
        state: 'ok',
        message: '',
        summary: { full: 1 },
        exceeded: {},
        entitled: { full: 10 },
      });
  }
}

const known = [
  { name: 'runner', enabled: false },
  { name: 'emailCSSFramework', enabled: true },
];

type Key = { readonly path: string; readonly kind: 'private' | 'public' | 'password' };

const keys: readonly Key[] = [
  { path: 'keys/deploy.pub', kind: 'public' },
  { path: 'keys/team/payments/ledger.password', kind: 'password' },
  { path: 'keys/team/payments/node.pem', kind: 'private' },
];

function toAcls(request: ApiRequest, path: string) {
  const name = 'readers.aclpolicy';
  const file = { path: name, type: 'file', href: href(request, `${path}/${name}`), name };
  return { path: '', type: 'directory', href: href(request, `${path}/`), resources: [file] };
}

function toFolder(request: ApiRequest, path: string) {
  return { path, type: 'directory', name: null, url: href(request, `storage/${path}`), meta: null };
}

function toKey(request: ApiRequest, { path, kind }: Key) {
  const { storagePrefix } = request.world.dialect;
  const types = {
    private: {
      [`${storagePrefix}-content-type`]: 'application/octet-stream',
      [`${storagePrefix}-key-type`]: 'private',
    },
    public: { [`${storagePrefix}-content-type`]: 'application/pgp-keys', [`${storagePrefix}-key-type`]: 'public' },
    password: {
      [`${storagePrefix}-content-type`]: `application/x-${storagePrefix.toLowerCase()}-data-password`,
      [`${storagePrefix}-data-type`]: 'password',
    },
  };
  const size =
    kind === 'public' ? { [`${storagePrefix}-content-size`]: '393' } : { [`${storagePrefix}-content-mask`]: 'content' };
  return {
    path,
    type: 'file',
    name: path.split('/').at(-1),
    url: href(request, `storage/${path}`),
    meta: { ...types[kind], ...size },
  };
}
