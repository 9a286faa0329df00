import { lastBefore, type Timeline } from './timeline.ts';

/** Everything that was read of a server, by the key of its source. */
export type Sources = ReadonlyMap<string, Timeline>;

/** The keys of the sources. Those of a member have its UUID; those of the common address have none. */
export const sourceKeys = {
  /** Whether the server answers: `answered` or `failed`. */
  contact: 'contact',
  /** That a member of this name answered. */
  contactOf: (member: string) => `contact ${member}`,
  mode: (uuid = '') => `mode ${uuid}`,
  /** Whether all threads of the scheduler are busy: `full` or `free`. */
  threads: (uuid = '') => `threads ${uuid}`,
  /** When the server started, in ms. */
  start: (uuid = '') => `start ${uuid}`,
  /** That this member answered. */
  member: (uuid: string) => `member ${uuid}`,
  /** Times over which the clock of a member was set ahead, and whether it has shown them since. */
  leaps: 'leaps',
  /** How far the server's clock is ahead of ours, in ms: the same as long as none of the two is set. */
  skew: 'skew',
  /** The switches of a project, as `automation_project_execution_mode` names them. */
  project: (project: string) => `project ${project}`,
} as const;

/** Reports whether a switch of a project is off, as far as was read. */
export function isProjectOff(sources: Sources, project: string): boolean {
  const mode = timelineOf(sources, sourceKeys.project(project)).at(-1)?.value;
  return mode !== undefined && mode !== 'active';
}

/** Reports whether a switch of a project was off at a time, by the last reading before it. */
export function isProjectOffAt(sources: Sources, project: string, atMs: number): boolean {
  return (lastBefore(timelineOf(sources, sourceKeys.project(project)), atMs)?.value ?? 'active') !== 'active';
}

const nothing: Timeline = [];

export function timelineOf(sources: Sources, key: string): Timeline {
  return sources.get(key) ?? nothing;
}
