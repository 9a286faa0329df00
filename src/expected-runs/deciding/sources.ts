import { lastBefore, type Timeline } from './timeline.ts';

/** All readings of a server, by the key of their source. */
export type Sources = ReadonlyMap<string, Timeline>;

/** The keys of the sources: with a UUID for a member, without one for the common address. */
export const sourceKeys = {
  /** Whether the server answers: `answered` or `failed`. */
  contact: 'contact',
  contactOf: (member: string) => `contact ${member}`,
  mode: (uuid = '') => `mode ${uuid}`,
  /** Whether all threads of the scheduler are busy: `full` or `free`. */
  threads: (uuid = '') => `threads ${uuid}`,
  /** When the server started, in ms. */
  start: (uuid = '') => `start ${uuid}`,
  /** Whether a member `answered` at its own address, or was `seen` behind the common one. */
  member: (uuid: string) => `member ${uuid}`,
  /** The spans that the clock of a member skipped, and whether it has shown them later. */
  leaps: 'leaps',
  /** By how much the server clock is ahead of the exporter's, in ms. Constant unless a clock is set. */
  skew: 'skew',
  /** The switches of a project, as `automation_project_execution_mode` names them. */
  project: (project: string) => `project ${project}`,
} as const;

export function isMode(key: string): boolean {
  return key.startsWith(sourceKeys.mode());
}

/** Reports whether a switch of a project is off, by the last reading. */
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
