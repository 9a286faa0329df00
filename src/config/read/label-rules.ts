import { type Complaints, type Place, toInnerPlace } from '../../domain/complaint.ts';
import type { ServerConfig } from '../config.ts';

/** Labels that configuration cannot add, because series or their targets already have them. */
export type TakenLabels = { readonly ofServers: readonly string[]; readonly ofProjects: readonly string[] };

/** Complains about labels that one series would have twice. */
export function checkLabels(
  { labels, projects }: ServerConfig,
  about: { taken: TakenLabels; placeOf: (key: string) => Place | undefined },
  complaints: Complaints,
): void {
  const { taken, placeOf } = about;
  const place = placeOf('labels');
  // A wrong value is undefined here, and already has its complaint.
  const own = (labels ?? []).map(([name]) => name);
  if (place !== undefined) complainTaken(own, { taken: taken.ofServers, place, path: [] }, complaints);
  const projectPlace = placeOf('projects.labels');
  if (projectPlace === undefined) return;
  for (const [index, entry] of (projects.labels ?? []).entries()) {
    const names = entry.labels.map(([name]) => name);
    const at = { place: projectPlace, path: [index, 'labels'] };
    complainTaken(names, { ...at, taken: taken.ofProjects }, complaints);
    for (const name of names.filter((one) => own.includes(one) && !taken.ofProjects.includes(one))) {
      const inner = toInnerPlace(projectPlace, [...at.path, name], true);
      complaints.add(inner, 'is a label of the server already', 'choose another name');
    }
  }
}

function complainTaken(
  names: readonly string[],
  about: { taken: readonly string[]; place: Place; path: readonly PropertyKey[] },
  complaints: Complaints,
): void {
  for (const name of names) {
    if (!about.taken.includes(name)) continue;
    const inner = toInnerPlace(about.place, [...about.path, name], true);
    complaints.add(inner, 'is a label that series have already', 'choose another name');
  }
}
