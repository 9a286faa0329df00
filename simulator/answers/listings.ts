import { isAnswer, openProject, refuseSystem } from './access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { href, ok, parameter } from './answer.ts';
import { denied } from './errors.ts';

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

/** feature/ and feature/{name} (v42): an unknown feature is off, not missing. */
export function features(request: ApiRequest): Answer {
  const name = parameter(request, 'name');
  return name === ''
    ? ok(known)
    : ok({ name, enabled: known.find((feature) => feature.name === name)?.enabled ?? false });
}

const known = [
  { name: 'runner', enabled: false },
  { name: 'emailCSSFramework', enabled: true },
];

function toAcls(request: ApiRequest, path: string) {
  const name = 'readers.aclpolicy';
  const file = { path: name, type: 'file', href: href(request, `${path}/${name}`), name };
  return { path: '', type: 'directory', href: href(request, `${path}/`), resources: [file] };
}
