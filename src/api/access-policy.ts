import type { Dialect } from './dialect.ts';

/** One right of an access policy: the kind of a resource, and the permitted action. */
export type AccessRight = (
  | { readonly type: 'project' | 'project_acl' | 'job' | 'node' | 'adhoc' }
  | { readonly type: 'resource'; readonly kind: 'system' | 'system_acl' | 'user' | 'event' | 'node' }
  | { readonly type: 'storage'; readonly path: string }
) & {
  readonly allow: 'read' | 'view' | 'admin' | 'configure';
  /** True if only rights of administrators can replace the right. Otherwise `view` is enough to read a job. */
  readonly isExact?: true;
};

type Allowed = { allowedBy: readonly AccessRight[] };

/** Returns an access policy for the given endpoints, ready to paste. Each right is listed once. */
export function toAccessPolicy(endpoints: readonly Allowed[], dialect: Dialect = 'rundeck'): string {
  const reasons = new Map(endpoints.flatMap(({ allowedBy }) => allowedBy).map((right) => [toText(right), { right }]));
  return renderPolicy([...reasons.values()], { dialect, projects: '.*' });
}

/** A task of the exporter: the name that users know, and the endpoints that it reads. */
export type Purpose = { readonly name: string; readonly reads: readonly Allowed[] };

/** A policy, and the purposes that it omits because their rights would also permit changes. */
export type LeastPolicy = {
  readonly text: string;
  readonly left: readonly { readonly purpose: string; readonly right: string; readonly isAllOfIt: boolean }[];
};

/** Returns the minimal policy for the given purposes in matching projects, with a comment above each rule. */
export function toLeastPolicy(
  purposes: readonly Purpose[],
  about: { dialect: Dialect; projects: string },
): LeastPolicy {
  const reasons = new Map<string, { right: AccessRight; names: Set<string> }>();
  const left = new Map<string, LeastPolicy['left'][number]>();
  for (const { name, reads } of purposes) {
    for (const read of reads) {
      const admin = toAdminRight(read);
      const isAllOfIt = reads.every((each) => toAdminRight(each) !== undefined);
      if (admin !== undefined) left.set(`${name} ${admin}`, { purpose: name, right: admin, isAllOfIt });
      for (const right of admin === undefined ? read.allowedBy : []) {
        const reason = reasons.get(toText(right)) ?? { right, names: new Set() };
        reason.names.add(name);
        reasons.set(toText(right), reason);
      }
    }
  }
  const reasoned = [...reasons.values()].map(({ right, names }) => {
    return { right, comment: [describe(right), `Used by: ${[...names].join(', ')}.`] };
  });
  return { text: renderPolicy(reasoned, about), left: [...left.values()] };
}

/** Returns a right of an endpoint that also permits changes. A suggested policy must not contain rights that permit changes. */
export function toAdminRight({ allowedBy }: Allowed): string | undefined {
  const right = allowedBy.find(({ allow }) => allow === 'admin' || allow === 'configure');
  return right && `${right.type === 'resource' ? right.kind : right.type} ${right.allow}`;
}

export function formatRights(rights: readonly AccessRight[]): string {
  return rights.map(toText).join(', ');
}

function toText(right: AccessRight): string {
  return `${right.type}: [${toEntry(right)}]`;
}

function toEntry(right: AccessRight, projects = '.*'): string {
  const allow = `allow: [${right.allow}]`;
  if (right.type === 'resource') return `{ equals: { kind: ${right.kind} }, ${allow} }`;
  if (right.type === 'storage') return `{ match: { path: "${right.path}" }, ${allow} }`;
  if (right.type === 'project' && projects !== '.*') return `{ match: { name: ${quote(projects)} }, ${allow} }`;
  return `{ ${allow} }`;
}

/** Reports whether a right belongs to the context of projects. All other rights belong to the context of the application. */
function isOfProjects(right: AccessRight): boolean {
  if (right.type === 'resource') return right.kind === 'event' || right.kind === 'node';
  return right.type === 'job' || right.type === 'node' || right.type === 'adhoc';
}

type Reasoned = { right: AccessRight; comment?: readonly string[] };

function renderPolicy(
  rights: readonly Reasoned[],
  { dialect, projects }: { dialect: Dialect; projects: string },
): string {
  const documents = [
    renderDocument(
      `application: ${dialect}`,
      rights.filter(({ right }) => !isOfProjects(right)),
      projects,
    ),
    renderDocument(
      `project: ${quote(projects)}`,
      rights.filter(({ right }) => isOfProjects(right)),
      projects,
    ),
  ];
  return documents.filter((document) => document !== '').join('---\n');
}

function renderDocument(context: string, rights: readonly Reasoned[], projects: string): string {
  if (rights.length === 0) return '';
  const types = [...new Set(rights.map(({ right }) => right.type))];
  const sections = types.map((type) => {
    const entries = rights.filter(({ right }) => right.type === type);
    const lines = entries.map(({ right, comment = [] }) => {
      const above = comment.map((line) => `    # ${line}\n`).join('');
      return `${above}    - ${toEntry(right, projects)}\n`;
    });
    return `  ${type}:\n${lines.join('')}`;
  });
  return `description: what automation-exporter reads
context:
  ${context}
for:
${sections.join('')}by:
  group: automation-exporter
`;
}

function quote(pattern: string): string {
  return `'${pattern.replaceAll("'", "''")}'`;
}

/** Describes what a right permits, and what is missing without it. */
function describe(right: AccessRight): string {
  if (right.type === 'resource') return resources[right.kind];
  return right.type === 'storage'
    ? 'The names of stored keys, when they were changed and by whom; no secrets.'
    : types[right.type];
}

const resources: Readonly<Record<Extract<AccessRight, { type: 'resource' }>['kind'], string>> = {
  system: 'System information: version, mode, memory, scheduler, metrics, log storage, tokens.',
  system_acl: 'The list of access policies of the system.',
  user: 'The users of the server.',
  event: 'Finished and running executions.',
  node: 'The list of nodes of a project.',
};

const types: Readonly<Record<Exclude<AccessRight['type'], 'resource' | 'storage'>, string>> = {
  project: 'The projects themselves: without this right, projects are invisible.',
  project_acl: 'The list of access policies of a project.',
  job: 'Jobs and their executions: without this right, every list omits them.',
  adhoc: 'The executions of commands that ran without a job.',
  node: 'The nodes in the list of nodes: without this right, the list is empty.',
};
