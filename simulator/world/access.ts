/** The permissions of a caller. `'*'` means everything of its kind. */
export type Policy = {
  readonly roles: readonly string[];
  readonly admin: boolean;
  readonly systemRead: boolean;
  readonly systemAdmin: boolean;
  readonly configure: boolean;
  readonly run: boolean;
  readonly projects: '*' | readonly string[];
  /** Projects whose events (running executions, history) may be read. */
  readonly events: '*' | readonly string[];
  /** Projects whose jobs, and what they ran, may be read. */
  readonly jobs: '*' | readonly string[];
  /** Projects in which commands that ran without a job may be read. */
  readonly adhoc: '*' | readonly string[];
  readonly nodes: '*' | readonly string[];
  /** Projects whose nodes stand in that list; it is empty for all others. */
  readonly eachNode: '*' | readonly string[];
  /** Jobs by id whose definition and executions stay hidden. */
  readonly hiddenJobs: readonly string[];
  /** Jobs by id that may be viewed and not read: lists and schedules show them, their executions and definitions stay hidden. */
  readonly viewedJobs: readonly string[];
};

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
