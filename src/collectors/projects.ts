import { projects, projectsWithModes } from '../api/endpoints/projects.ts';
import { gauge, info } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

export const projectsCollector = defineCollector({
  name: 'projects',
  help: 'Watched projects and their configured labels',
  every: '1m',
  on: true,
  reads: [projects, projectsWithModes],
  metrics: {
    count: gauge('automation_projects', 'Number of watched projects [projects].'),
    project: info(
      'automation_project_info',
      'A watched project: its label, creation time and configured labels [projects].',
      'project',
      'label',
      'created',
    ),
  },
  fetch: (api, watch) => watch.projects.read(api),
  map: (list, { count, project }, { watch }) => [
    ...count.rows(list.length),
    ...list.flatMap(({ name, label, createdAtMs }) =>
      project.rows({ project: name, label, created: toDate(createdAtMs) }, watch.projects.labelsOf(name)),
    ),
  ],
});

/** Returns whole seconds, because only one release writes milliseconds. */
function toDate(timestampMs: number | undefined): string | undefined {
  if (timestampMs === undefined || Math.abs(timestampMs) > latestMs) return undefined;
  return new Date(timestampMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The latest time that a date can have. */
const latestMs = 8.64e15;
