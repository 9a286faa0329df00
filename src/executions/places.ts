import { deletedJob, otherJobs } from './naming.ts';
import { type Cell, toJobKey } from './totals.ts';

/** Which jobs and nodes have series of their own: whoever came first, and for good. */
export type Places = {
  readonly hasJob: (project: string, group: string, name: string, most: number) => boolean;
  readonly hasDurations: (project: string, group: string, name: string, most: number) => boolean;
  readonly hasNode: (project: string, node: string, most: number) => boolean;
  /** Of a project that is gone for good the places are free again. */
  readonly forget: (project: string) => void;
};

/** The places that are taken by what was counted; whoever asks while there is room takes one. */
export function createPlaces(cells: Iterable<Cell>): Places {
  const jobs = new Set<string>();
  const durations = new Set<string>();
  const nodes = new Set<string>();
  for (const { kind, labels } of cells) {
    const [project = '', second = '', third = ''] = labels;
    if (kind === 'node-failures' && second !== otherJobs) nodes.add(JSON.stringify([project, second]));
    if ((kind !== 'runs' && kind !== 'durations') || isNoJob(third)) continue;
    (kind === 'runs' ? jobs : durations).add(toJobKey(project, second, third));
  }
  return {
    hasJob: (project, group, name, most) => has(jobs, toJobKey(project, group, name), most),
    hasDurations: (project, group, name, most) =>
      name !== otherJobs && has(durations, toJobKey(project, group, name), most),
    hasNode: (project, node, most) => has(nodes, JSON.stringify([project, node]), most),
    forget: (project) => {
      const begin = `${JSON.stringify([project]).slice(0, -1)},`;
      for (const places of [jobs, durations, nodes])
        for (const key of places) if (key.startsWith(begin)) places.delete(key);
    },
  };
}

/** Names that stand for no job in particular. */
export function isNoJob(name: string): boolean {
  return name === '' || name === deletedJob || name === otherJobs;
}

function has(places: Set<string>, key: string, most: number): boolean {
  if (places.has(key)) return true;
  if (places.size >= most) return false;
  places.add(key);
  return true;
}
