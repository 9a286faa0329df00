import { covers, type Policy } from '../world/access.ts';
import { type Answer, type ApiRequest, badParameter, fail, invalidRequest, ok } from './answer.ts';

/** authorizations/… (API reference, "Authorizations"), since 5.9: whether the rules permit each of the given actions. */
export function authorizations(request: ApiRequest): Answer {
  const { world, query, parameters, caller } = request;
  if (!world.release.authorizations) return invalidRequest(world, '/api/authorizations');
  const actions = query.getAll('actions');
  if (actions.length === 0)
    return fail(request, 400, 'api.error.parameter.required', ['The parameter "actions" is required', 'actions']);
  const { kind, type, project = '', id } = parameters;
  const isOwn = type === 'project' || type === 'project_acl';
  if (type !== undefined && !(id === undefined ? isOwn : ['job', 'node', 'storage'].includes(type)))
    return badParameter(request, 'api.error.parameter.invalid', 'type', type);
  const job = id === undefined ? undefined : world.jobs.get(id);
  if (type === 'job' && job?.project.name !== project)
    return badParameter(request, 'api.error.parameter.invalid', 'specifier', id ?? '');
  const resource = type === undefined ? { kind } : { type, specifier: id ?? project };
  const rights = listRights(caller.policy, type ?? kind ?? '', { project, id });
  return ok({
    authorizationContext:
      kind !== undefined && project === '' ? { type: 'application' } : { type: 'project', name: project },
    resource,
    actionAuthorizations: actions.map((actionName) => ({
      actionName,
      isAuthorized: caller.policy.admin || rights.includes(actionName),
    })),
  });
}

type Place = { readonly project: string; readonly id: string | undefined };

/** Returns the literal actions that rules permit. Administrators have `admin` on things that they cannot read. */
function listRights(policy: Policy, name: string, { project, id = '' }: Place): readonly string[] {
  const read = (allowed: boolean): string[] => (allowed ? ['read'] : policy.systemAdmin ? ['admin'] : []);
  if (name === 'system') return [...read(policy.systemRead), ...(policy.systemAdmin ? ['admin'] : [])];
  if (name === 'project')
    return [...read(covers(policy.projects, project)), ...(policy.configure ? ['configure'] : [])];
  if (name === 'event') return read(covers(policy.events, project));
  if (name === 'node') return read(covers(policy.nodes, project));
  if (name === 'job' && covers(policy.jobs, project))
    return [policy.viewedJobs.includes(id) ? 'view' : 'read', ...(policy.run ? ['run', 'kill'] : [])];
  return [];
}
