import { projectNodes } from '../api/endpoints/nodes.ts';
import { gauge } from '../metrics/family.ts';
import { defineProjectCollector } from '../schedule/collector.ts';

export const projectNodesCollector = defineProjectCollector({
  name: 'project-nodes',
  help: 'Nodes of each project by operating system family',
  every: '15m',
  on: true,
  reads: [projectNodes],
  metrics: {
    nodes: gauge(
      'automation_project_nodes',
      'Nodes of a project; os_family is empty for nodes that do not report it [project/resources].',
      'project',
      'os_family',
    ),
  },
  fetch: (api, { name }) => api.get(projectNodes, { path: { project: name }, query: { format: 'json' } }),
  map: (listed, { nodes }, { project }) => {
    const counts = new Map<string, number>();
    for (const { osFamily = '' } of listed) counts.set(osFamily, (counts.get(osFamily) ?? 0) + 1);
    // A project without nodes has a count of 0 with an empty family.
    if (counts.size === 0) return nodes.rows(0, { project, os_family: '' });
    return [...counts].flatMap(([family, count]) => nodes.rows(count, { project, os_family: family }));
  },
});
