import type { Api } from '../api/client.ts';
import {
  type ProjectModes,
  projectDisablesExecutions,
  projectDisablesSchedule,
  projectMeta,
  projectsWithModes,
} from '../api/endpoints/projects.ts';
import { stateSet } from '../metrics/family.ts';
import { defineProjectCollector, type ProjectToAsk, type Watch } from '../schedule/collector.ts';

export const projectModesCollector = defineProjectCollector({
  name: 'project-modes',
  help: 'Whether each project runs executions and schedules',
  every: '1m',
  on: true,
  reads: [projectsWithModes, projectMeta, projectDisablesExecutions, projectDisablesSchedule],
  metrics: {
    mode: stateSet(
      'automation_project_execution_mode',
      'Execution mode of a project; disabled means neither executions nor schedules [projects?meta=config, before v47 project/meta, before v46 project/config].',
      { label: 'mode', states: ['active', 'executions_disabled', 'schedule_disabled', 'disabled'] },
      'project',
    ),
  },
  fetchAll: readAll,
  fetch: readOne,
  map: (modes, { mode }, { project }) => mode.rows(toMode(modes), { project }),
});

/** Reads all projects with one list, which servers with API 47 support. */
async function readAll(api: Api, watch: Watch): Promise<ReadonlyMap<string, ProjectModes> | undefined> {
  if (!(await api.supports(projectsWithModes))) return undefined;
  const list = await watch.projects.read(api);
  const isTold = list.some((project) => toMode(project) !== undefined);
  return isTold ? new Map(list.map((project) => [project.name, project])) : undefined;
}

async function readOne(api: Api, { name }: ProjectToAsk): Promise<ProjectModes> {
  const path = { project: name };
  if (await api.supports(projectMeta)) return api.get(projectMeta, { path, query: { meta: 'config' } });
  const disablesExecutions = await api.get(projectDisablesExecutions, { path });
  const disablesSchedule = await api.get(projectDisablesSchedule, { path });
  return { executionsEnabled: !disablesExecutions, scheduleEnabled: !disablesSchedule };
}

function toMode({ executionsEnabled, scheduleEnabled }: ProjectModes): string | undefined {
  if (executionsEnabled === undefined || scheduleEnabled === undefined) return undefined;
  if (executionsEnabled) return scheduleEnabled ? 'active' : 'schedule_disabled';
  return scheduleEnabled ? 'executions_disabled' : 'disabled';
}
