import { type AccessRight, toAdminRight } from './access-policy.ts';
import type { Api } from './client.ts';
import type { Endpoint } from './endpoint.ts';
import { jobRights, ownRights, projectRights, systemRights } from './endpoints/authorizations.ts';
import { projectJobs } from './endpoints/jobs.ts';
import { ApiError, isOfWholeServer } from './errors.ts';

/** The rights of the token, as reported by the server. */
export type Rights = {
  readonly rights: readonly CollectorRight[];
  /** Rights of the token that no enabled purpose needs. */
  readonly excess: readonly string[];
};

export type CollectorRight = { readonly collector: string; readonly may: boolean; readonly missing: readonly string[] };

type Purpose = { readonly name: string; readonly reads: readonly Pick<Endpoint<unknown>, 'allowedBy'>[] };

/** Requests the rights in the given projects. Returns undefined if the server (before 5.9) does not report rights. */
export async function readRights(
  api: Api,
  purposes: readonly Purpose[],
  projects: readonly string[],
): Promise<Rights | undefined> {
  const answers = new Map<string, ReadonlySet<string>>();
  for (const subject of subjects) {
    for (const project of subject.isOfProject ? projects : ['']) {
      const found = await ask(api, subject, project);
      if (found === 'unsupported') return undefined;
      if (found !== undefined) answers.set(`${subject.name} ${project}`, found);
    }
  }
  const needs = new Set<string>();
  const rights = purposes.map(({ name, reads }) => {
    const needed = toNeeded(reads).flatMap(({ allowedBy }) => allowedBy);
    for (const right of needed) needs.add(toText(right));
    const missing = [...new Set(needed.flatMap((right) => listMissing(right, projects, answers)))];
    return { collector: name, may: missing.length === 0, missing };
  });
  return { rights, excess: listExcess(answers, needs) };
}

/** Returns the rights that releases from 5.9 on need. Only older releases need rights of administrators for some endpoints. */
function toNeeded(reads: Purpose['reads']): Purpose['reads'] {
  const usual = reads.filter((read) => toAdminRight(read) === undefined);
  return usual.length === 0 ? reads : usual;
}

/** A kind of resource: the action for reading, and the actions that an exporter does not need. */
type Subject = { readonly name: string; readonly isOfProject: boolean; readonly changes: readonly string[] };

const subjects: readonly Subject[] = [
  { name: 'system', isOfProject: false, changes: ['enable_executions', 'disable_executions'] },
  { name: 'system_acl', isOfProject: false, changes: ['create', 'update', 'delete'] },
  { name: 'user', isOfProject: false, changes: [] },
  { name: 'apitoken', isOfProject: false, changes: ['generate_user_token', 'generate_service_token'] },
  { name: 'plugin', isOfProject: false, changes: ['install', 'uninstall'] },
  { name: 'project', isOfProject: true, changes: ['configure', 'delete', 'import', 'export', 'promote'] },
  { name: 'project_acl', isOfProject: true, changes: ['create', 'update', 'delete'] },
  { name: 'event', isOfProject: true, changes: ['create', 'update', 'delete'] },
  { name: 'node', isOfProject: true, changes: ['create', 'update', 'refresh'] },
  { name: 'job', isOfProject: true, changes: ['run', 'kill', 'create', 'update', 'delete'] },
];

const administration = ['admin', 'app_admin', 'ops_admin'];
const literal = ['event', 'node', 'job'];

/** Returns the permitted actions; undefined if the server has no resource of the requested kind. */
async function ask(
  api: Api,
  { name, isOfProject, changes }: Subject,
  project: string,
): Promise<ReadonlySet<string> | 'unsupported' | undefined> {
  const query = { actions: ['read', 'view', ...administration, ...changes] };
  try {
    if (!isOfProject) return await api.get(systemRights, { path: { kind: name }, query });
    if (name === 'project' || name === 'project_acl')
      return await api.get(ownRights, { path: { type: name, project }, query });
    if (name !== 'job') return await api.get(projectRights, { path: { project, kind: name }, query });
    // The right is requested for one job. Other jobs may have different rules.
    const [job] = await api.get(projectJobs, { path: { project } });
    return job && (await api.get(jobRights, { path: { project, id: job.id }, query }));
  } catch (error) {
    if (!(error instanceof ApiError) || isOfWholeServer(error)) throw error;
    return name === 'system' && error.kind === 'not_found' ? 'unsupported' : undefined;
  }
}

type Answers = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Lists missing rights. Administrators may read most endpoints of the whole server. Rights that cannot be requested, for
 * example for storage or single nodes, do not count as missing.
 */
function listMissing(right: AccessRight, projects: readonly string[], answers: Answers): string[] {
  const name = right.type === 'resource' ? right.kind : right.type;
  if (right.type === 'node') return [];
  const isViewEnough = name === 'job' && right.isExact !== true;
  // A right of administrators does not include the rights in projects.
  const ofAdmins = literal.includes(name) ? [] : administration;
  const enough = [right.allow, ...ofAdmins, ...(isViewEnough ? ['view'] : [])];
  return ['', ...projects].flatMap((project) => {
    const allowed = answers.get(`${name} ${project}`);
    if (allowed === undefined || enough.some((action) => allowed.has(action))) return [];
    return [`${name} ${right.allow}${project === '' ? '' : ` in ${project}`}`];
  });
}

function listExcess(answers: Answers, needs: ReadonlySet<string>): string[] {
  const found = [...answers].flatMap(([key, allowed]) => {
    const [name = ''] = key.split(' ');
    const more = [...(subjects.find((subject) => subject.name === name)?.changes ?? []), ...administration];
    return more.filter((action) => allowed.has(action)).map((action) => `${name} ${action}`);
  });
  return [...new Set(found)].filter((right) => !needs.has(right));
}

function toText(right: AccessRight): string {
  return `${right.type === 'resource' ? right.kind : right.type} ${right.allow}`;
}
