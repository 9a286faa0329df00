import { parseAllDocuments } from 'yaml';
import * as z from 'zod';

const names = z.array(z.string()).readonly();
const allOrNames = z.literal('*').or(names);

/** The permissions of a caller. `'*'` permits everything of its kind. */
export const policySchema = z.strictObject({
  roles: names,
  admin: z.boolean(),
  systemRead: z.boolean(),
  systemAdmin: z.boolean(),
  configure: z.boolean(),
  run: z.boolean(),
  projects: allOrNames,
  /** Projects whose events (running executions, history) may be read. */
  events: allOrNames,
  /** Projects whose jobs, and the executions of these jobs, may be read. */
  jobs: allOrNames,
  /** Projects in which commands that ran without a job may be read. */
  adhoc: allOrNames,
  nodes: allOrNames,
  /** Projects whose nodes may be listed. The list of nodes is empty for all other projects. */
  eachNode: allOrNames,
  /** The ids of jobs whose definition and executions stay hidden. */
  hiddenJobs: names,
  /** The ids of jobs that can be viewed but not read: their definition is hidden, and only some lists show their executions. */
  viewedJobs: names,
  /** The ids of jobs whose history may be viewed. */
  pastJobs: names,
});

export type Policy = Readonly<z.infer<typeof policySchema>>;

export type Credential = {
  readonly id: string;
  readonly kind: 'token' | 'bearer' | 'password';
  readonly secret: string;
  readonly user: string;
  readonly creator: string;
  readonly name: string | undefined;
  readonly policy: Policy;
  expiresAtMs: number | undefined;
};

export const everythingPolicy: Policy = {
  roles: ['admin'],
  admin: true,
  systemRead: true,
  systemAdmin: true,
  configure: true,
  run: true,
  projects: '*',
  events: '*',
  jobs: '*',
  adhoc: '*',
  nodes: '*',
  eachNode: '*',
  hiddenJobs: [],
  viewedJobs: [],
  pastJobs: [],
};

/** A policy with read access to everything and no other right, as recommended for an exporter. */
export const readerPolicy: Policy = {
  ...everythingPolicy,
  roles: ['readers'],
  admin: false,
  systemAdmin: false,
  configure: false,
  run: false,
};

/** A policy without rights, for a known caller. */
export const strangerPolicy: Policy = {
  ...readerPolicy,
  roles: ['strangers'],
  systemRead: false,
  projects: [],
  events: [],
  jobs: [],
  adhoc: [],
  nodes: [],
  eachNode: [],
};

export function covers(allowed: '*' | readonly string[], name: string): boolean {
  return allowed === '*' || allowed.includes(name);
}

type Covered = '*' | readonly string[];
type Rule = {
  readonly equals?: { readonly kind?: string };
  readonly match?: { readonly name?: string };
  readonly allow?: string | readonly string[];
};
type Document = {
  readonly context?: { readonly application?: string; readonly project?: string };
  readonly for?: Readonly<Record<string, readonly Rule[]>>;
  readonly by?: { readonly group?: unknown; readonly username?: unknown };
};

/** Returns a policy with the additional permissions of an access control file. The group in the file is ignored. */
export function permit(policy: Policy, text: string, projects: readonly string[]): Policy {
  let permitted = policy;
  for (const parsed of parseAllDocuments(text)) {
    if (!('errors' in parsed)) continue;
    const [error] = parsed.errors;
    if (error !== undefined) throw error;
    // This cast is safe: only tests write the file.
    permitted = permitDocument(permitted, (parsed.toJS() ?? {}) as Document, projects);
  }
  return permitted;
}

function permitDocument(policy: Policy, document: Document, projects: readonly string[]): Policy {
  const { context = {}, for: rules = {}, by } = document;
  if (by?.group === undefined && by?.username === undefined) throw new Error('a policy needs `by`');
  let permitted = policy;
  for (const [type, list] of Object.entries(rules)) {
    for (const rule of list) {
      for (const action of [rule.allow ?? []].flat()) {
        const right = { type, kind: rule.equals?.kind ?? '', action };
        if (context.application === undefined) {
          permitted = permitInProjects(permitted, right, toCovered(context.project ?? '', projects));
        } else permitted = permitInApplication(permitted, right, toCovered(rule.match?.name ?? '.*', projects));
      }
    }
  }
  return permitted;
}

type Right = { readonly type: string; readonly kind: string; readonly action: string };

function permitInApplication(policy: Policy, { type, kind, action }: Right, covered: Covered): Policy {
  const right = type === 'resource' ? `${kind} ${action}` : `${type} ${action}`;
  if (right === 'project read') return { ...policy, projects: join(policy.projects, covered) };
  if (right === 'project configure') return { ...policy, configure: true };
  if (right === 'system read') return { ...policy, systemRead: true };
  if (right === 'system admin') return { ...policy, systemAdmin: true };
  if (/^(system_acl|project_acl|storage|user) /.test(right)) return policy;
  throw new Error(`the simulated service has no right \`${right}\` of the application`);
}

function permitInProjects(policy: Policy, { type, kind, action }: Right, covered: Covered): Policy {
  const right = type === 'resource' ? `${kind} ${action}` : `${type} ${action}`;
  if (right === 'event read') return { ...policy, events: join(policy.events, covered) };
  if (right === 'job read') return { ...policy, jobs: join(policy.jobs, covered), hiddenJobs: [], viewedJobs: [] };
  if (right === 'adhoc read') return { ...policy, adhoc: join(policy.adhoc, covered) };
  if (right === 'node read' && type === 'resource') return { ...policy, nodes: join(policy.nodes, covered) };
  if (right === 'node read') return { ...policy, eachNode: join(policy.eachNode, covered) };
  throw new Error(`the simulated service has no right \`${right}\` of a project`);
}

/** Returns a pattern that must match whole names. */
function toCovered(pattern: string, projects: readonly string[]): Covered {
  if (pattern === '.*') return '*';
  const whole = new RegExp(`^(?:${pattern})$`);
  return projects.filter((name) => whole.test(name));
}

function join(before: Covered, added: Covered): Covered {
  return before === '*' || added === '*' ? '*' : [...new Set([...before, ...added])];
}
