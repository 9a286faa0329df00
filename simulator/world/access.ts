import * as z from 'zod';

const names = z.array(z.string()).readonly();
const allOrNames = z.literal('*').or(names);

/** The permissions of a caller. `'*'` means everything of its kind. */
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
  /** Projects whose jobs, and what they ran, may be read. */
  jobs: allOrNames,
  /** Projects in which commands that ran without a job may be read. */
  adhoc: allOrNames,
  nodes: allOrNames,
  /** Projects whose nodes stand in that list; it is empty for all others. */
  eachNode: allOrNames,
  /** Jobs by id whose definition and executions stay hidden. */
  hiddenJobs: names,
  /** Jobs by id that may be viewed and not read: lists and schedules show them, their executions and definitions stay hidden. */
  viewedJobs: names,
});

export type Policy = Readonly<z.infer<typeof policySchema>>;

export type Credential = {
  readonly id: string;
  readonly kind: 'token' | 'bearer' | 'password';
  /** The value a caller has to show. */
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
};

/** Read access to everything, and nothing more: what an exporter should have. */
export const readerPolicy: Policy = {
  ...everythingPolicy,
  roles: ['readers'],
  admin: false,
  systemAdmin: false,
  configure: false,
  run: false,
};

/** No rights at all beyond being known. */
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
