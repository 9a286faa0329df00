import type { StoredKey } from '../world/keys.ts';
import { isAnswer, openProject, refuseSystem } from './access.ts';
import { type Answer, type ApiRequest, denied, href, missing, ok, parameter, text } from './answer.ts';

/** storage/keys/{path} (API reference, "Stored key resource", "Key storage"): one level, without the content of secrets. */
export function keyStorage(request: ApiRequest): Answer {
  const path = ['keys', parameter(request, 'path')]
    .filter((part) => part !== '')
    .join('/')
    .replace(/\/$/, '');
  if (!request.caller.policy.systemRead) return absent(request, path, denied(request, 'read', 'Path', path));
  const keys = [...request.world.keys.values()];
  const key = keys.find((candidate) => candidate.path === path);
  if (key !== undefined) return wantsContent(request) ? toContent(request, key) : ok(toKey(request, key));
  const below = keys.filter((candidate) => candidate.path.startsWith(`${path}/`));
  if (below.length === 0 && path !== 'keys') return absent(request, path, missing(request, 'Key', path));
  const children = new Map<string, unknown>();
  for (const candidate of below) {
    const rest = candidate.path.slice(path.length + 1).split('/');
    const childPath = `${path}/${rest[0] ?? ''}`;
    children.set(childPath, rest.length === 1 ? toKey(request, candidate) : toFolder(request, childPath));
  }
  return ok({ ...toFolder(request, path), ...(children.size === 0 ? {} : { resources: [...children.values()] }) });
}

/** Returns the answer for a missing path, which is the answer of real servers for a denied path too. */
function absent({ world }: ApiRequest, path: string, documented: Answer): Answer {
  if (world.release.asDocumented) return documented;
  return { status: 404, json: { error: `resource not found: /${path}${path === 'keys' ? '/' : ''}` } };
}

function wantsContent({ accept }: ApiRequest): boolean {
  return accept !== undefined && !accept.includes('json');
}

function toContent(request: ApiRequest, { path, kind }: StoredKey): Answer {
  return kind === 'public'
    ? text('ssh-rsa example-public-key deploy\n', 'application/pgp-keys')
    : denied(request, 'read', 'Content', path);
}

/** Returns a folder. Real servers send null as name and metadata of folders. */
function toFolder(request: ApiRequest, path: string) {
  const place = { path, type: 'directory', url: href(request, `storage/${path}`) };
  return request.world.release.asDocumented ? place : { ...place, name: null, meta: null };
}

function toKey(request: ApiRequest, { path, kind, size, ...key }: StoredKey) {
  const { dialect, release } = request.world;
  const prefix = dialect.storagePrefix;
  const contentType = {
    private: 'application/octet-stream',
    public: 'application/pgp-keys',
    password: `application/x-${prefix.toLowerCase()}-data-password`,
  }[kind];
  // Real servers hide the size of secrets and passwords. The document does not hide the size.
  const hidden = kind !== 'public';
  return {
    path,
    type: 'file',
    name: path.split('/').at(-1),
    url: href(request, `storage/${path}`),
    meta: {
      [`${prefix}-content-type`]: contentType,
      ...(hidden && !release.asDocumented ? {} : { [`${prefix}-content-size`]: size }),
      ...(kind === 'password' ? {} : { [`${prefix}-key-type`]: kind }),
      ...(kind === 'password' && !release.asDocumented ? { [`${prefix}-data-type`]: 'password' } : {}),
      ...(hidden ? { [`${prefix}-content-mask`]: 'content' } : {}),
      ...(release.asDocumented ? {} : toHistory(prefix, key)),
    },
  };
}

function toHistory(
  prefix: string,
  { createdAtMs, createdBy, modifiedAtMs, modifiedBy }: Omit<StoredKey, 'path' | 'kind' | 'size'>,
) {
  const toTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  return {
    [`${prefix}-content-creation-time`]: toTime(createdAtMs),
    [`${prefix}-content-modify-time`]: toTime(modifiedAtMs),
    [`${prefix}-auth-created-username`]: createdBy,
    [`${prefix}-auth-modified-username`]: modifiedBy,
  };
}

/** system/acl/ (API reference, "ACL policy listing"). */
export function systemAcls(request: ApiRequest): Answer {
  return refuseSystem(request) ?? ok(toAcls(request, 'system/acl'));
}

export function projectAcls(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  return request.caller.policy.configure
    ? ok(toAcls(request, `project/${encodeURIComponent(project.name)}/acl`))
    : denied(request, 'read', 'ACL for Project', project.name);
}

function toAcls(request: ApiRequest, path: string) {
  const name = 'readers.aclpolicy';
  const file = { path: name, type: 'file', href: href(request, `${path}/${name}`), name };
  return { path: '', type: 'directory', href: href(request, `${path}/`), resources: [file] };
}
