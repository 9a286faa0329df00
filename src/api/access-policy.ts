import type { Dialect } from './dialect.ts';

/** One right of an access policy: about what kind of thing, and what may be done with it. */
export type AccessRight = (
  | { readonly type: 'project' | 'project_acl' | 'job' | 'node' | 'adhoc' }
  | { readonly type: 'resource'; readonly kind: 'system' | 'system_acl' | 'user' | 'event' | 'node' }
  | { readonly type: 'storage'; readonly path: string }
) & { readonly allow: 'read' | 'view' | 'admin' | 'configure' };

type Allowed = { readonly allowedBy: readonly AccessRight[] };

/** The access policy that allows these endpoints, ready to be pasted; each right stands in it once. */
export function toAccessPolicy(endpoints: readonly Allowed[], dialect: Dialect = 'rundeck'): string {
  const rights = [
    ...new Map(endpoints.flatMap(({ allowedBy }) => allowedBy).map((right) => [toText(right), right])).values(),
  ];
  const documents = [
    renderDocument(
      `application: ${dialect}`,
      rights.filter((right) => !isOfProjects(right)),
    ),
    renderDocument("project: '.*'", rights.filter(isOfProjects)),
  ];
  return documents.filter((document) => document !== '').join('---\n');
}

/** The right that an endpoint needs where it also allows changes: a pasted policy must not grant it. */
export function toAdminRight({ allowedBy }: Allowed): string | undefined {
  const right = allowedBy.find(({ allow }) => allow === 'admin' || allow === 'configure');
  return right && `${right.type === 'resource' ? right.kind : right.type} ${right.allow}`;
}

/** Rights in one line, as they stand in a policy. */
export function formatRights(rights: readonly AccessRight[]): string {
  return rights.map(toText).join(', ');
}

function toText(right: AccessRight): string {
  return `${right.type}: [${toEntry(right)}]`;
}

function toEntry(right: AccessRight): string {
  const allow = `allow: [${right.allow}]`;
  if (right.type === 'resource') return `{ equals: { kind: ${right.kind} }, ${allow} }`;
  if (right.type === 'storage') return `{ match: { path: "${right.path}" }, ${allow} }`;
  return `{ ${allow} }`;
}

/**
 * Reports whether a right belongs to a project: it is allowed in the context of projects, all others in that of the
 * application.
 */
function isOfProjects(right: AccessRight): boolean {
  if (right.type === 'resource') return right.kind === 'event' || right.kind === 'node';
  return right.type === 'job' || right.type === 'node' || right.type === 'adhoc';
}

function renderDocument(context: string, rights: readonly AccessRight[]): string {
  if (rights.length === 0) return '';
  const types = [...new Set(rights.map(({ type }) => type))];
  const sections = types.map((type) => {
    const lines = rights.filter((right) => right.type === type).map((right) => `    - ${toEntry(right)}\n`);
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
