import { jobSections } from '../api/endpoints/job-sections.ts';
import { projectNodes } from '../api/endpoints/nodes.ts';
import { pluginList } from '../api/endpoints/plugins.ts';
import { storedKeys, storedKeysBelow } from '../api/endpoints/storage.ts';
import { changeFamilies } from '../diagnosis/changes/families.ts';
import type { ChangesCollector } from '../schedule/collector.ts';

export const changesCollector: ChangesCollector = {
  kind: 'changes',
  name: 'changes',
  help: 'The journal of changes: of jobs and their definitions, keys, nodes, projects and the server. Requires the collector executions',
  every: '1m',
  on: true,
  vital: false,
  perMember: false,
  reads: [storedKeys, storedKeysBelow, projectNodes, jobSections, pluginList],
  metrics: changeFamilies,
};
