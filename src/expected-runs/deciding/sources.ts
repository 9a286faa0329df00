import { lastBefore, type Timeline } from './timeline.ts';

export type Sources = ReadonlyMap<string, Timeline>;

/** The keys of the sources. A UUID names a member; a key without a UUID stands for the common address. */
export const sourceKeys = {
  /** Whether the server responds: `answered` or `failed`. */
  contact: 'contact',
  contactOf: (member: string) => `contact ${member}`,
  mode: (uuid = '') => `mode ${uuid}`,
  /** Whether all threads of the scheduler are busy: `full` or `free`. */
  threads: (uuid = '') => `threads ${uuid}`,
  /** The start time of the server in ms. */
  start: (uuid = '') => `start ${uuid}`,
  /** Whether a member responded: `answered` at its own address, or `seen` behind the common address. */
  member: (uuid: string) => `member ${uuid}`,
  /** The spans that the clock of a member skipped, and whether the clock has shown them since. */
  leaps: 'leaps',
  /** How far the server clock is ahead of the exporter's clock in ms. Constant unless a clock is set. */
  skew: 'skew',
  /** The switches of a project, as in `automation_project_execution_mode`. */
  project: (project: string) => `project ${project}`,
} as const;

export function isMode(key: string): boolean {
  return key.startsWith(sourceKeys.mode());
}

export function isProjectOff(sources: Sources, project: string): boolean {
  const mode = timelineOf(sources, sourceKeys.project(project)).at(-1)?.value;
  return mode !== undefined && mode !== 'active';
}

/** Reports whether a switch of a project was off at a time, by the last reading before this time. */
export function isProjectOffAt(sources: Sources, project: string, atMs: number): boolean {
  return (lastBefore(timelineOf(sources, sourceKeys.project(project)), atMs)?.value ?? 'active') !== 'active';
}

const nothing: Timeline = [];

export function timelineOf(sources: Sources, key: string): Timeline {
  return sources.get(key) ?? nothing;
}
