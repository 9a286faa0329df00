import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { projectExecutions, runningExecutions } from '../api/endpoints/executions.ts';
import { projects } from '../api/endpoints/projects.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { ApiError } from '../api/errors.ts';
import { createProjectList } from '../api/project-list.ts';
import type { Collector, ProjectCollector } from '../collectors/collector.ts';
import type { Watch } from '../collectors/watch.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { systemClock } from '../system-clock.ts';
import { type Finding, findInProjects, type Probe } from './probe.ts';

/** What the collectors that are on would ask of a server, each of it once; of projects only the first few are asked. */
export function toProbes(server: ServerConfig, { jobs, collectors: settings }: Config, enabled: readonly Collector[]) {
  const list = createProjectList({ isWanted: server.projects.isWanted, clock: systemClock });
  const watch: Watch = {
    projects: { read: list.read, labelsOf: server.projects.labelsOf },
    // A job each would be asked for its average.
    jobs: { isWanted: jobs.isWanted, detail: 0, asksForAverages: false },
    hasExecutionMetrics: (project) => settings['execution-metrics']?.projects?.matches(project) === true,
  };

  /** Asked for once: where that fails, it has failed for all that go project by project. */
  let listed: Promise<readonly string[]> | undefined;
  function readNames(api: Api): Promise<readonly string[]> {
    listed ??= list.read(api).then((found) => found.map(({ name }) => name));
    return listed;
  }

  async function inProjects(api: Api, ask: (project: string, of: number) => Promise<unknown>): Promise<Finding> {
    const names = await readNames(api);
    if (names.length === 0) return untried;
    return findInProjects(names.slice(0, mostProjects), names.length, (project) => ask(project, names.length));
  }

  function ofCollector(collector: ProjectCollector): Probe {
    const { name, reads, covers, collect, collectAll } = collector;
    return {
      name,
      reads,
      ask: async (api) => {
        if ((await collectAll(api, watch)) !== undefined) return undefined;
        return inProjects(api, async (project, of) => {
          if (covers(project, watch)) await collect(api, { name: project, of }, watch);
        });
      },
    };
  }

  const ofExecutions: readonly Probe[] = [
    {
      name: runningExecutions.name,
      reads: [runningExecutions],
      // Where no project is visible there is no right to read all of them.
      ask: async (api) => {
        if ((await readNames(api)).length === 0) return untried;
        const ask = (project: string) => api.get(runningExecutions, { path: { project }, query: { max: 1 } });
        try {
          await ask('*');
          return undefined;
        } catch (error) {
          // Releases that take the `*` for a name are asked project by project by the rounds, too.
          if (!(error instanceof ApiError) || error.details.isOfService !== true || error.kind === 'forbidden')
            throw error;
          return inProjects(api, ask);
        }
      },
    },
    {
      name: projectExecutions.name,
      reads: [projectExecutions, projects],
      ask: (api) =>
        inProjects(api, async (project) => {
          const end = Date.now();
          await api.get(projectExecutions, { path: { project }, query: { begin: end - hourMs, end, max: 1 } });
        }),
    },
  ];

  // System info is asked whatever is on: it tells whether this is the service at all.
  const ofServer = [systemInfo, ...enabled.flatMap(({ reads }) => reads)].filter(({ path }) => !path.includes('{'));
  return [
    ...uniqueByName(ofServer).map(toProbe),
    ...enabled.flatMap((collector) => {
      if (collector.kind === 'executions') return ofExecutions;
      return collector.kind === 'project' ? [ofCollector(collector)] : [];
    }),
  ];
}

const untried = { note: 'not tried: no project is visible to these credentials' };
const hourMs = 3_600_000;
/** Rights are given by patterns: what is well in a few projects is mostly well in all. */
const mostProjects = 5;

function toProbe(endpoint: Endpoint<unknown>): Probe {
  return {
    name: endpoint.name,
    reads: [endpoint],
    ask: async (api) => {
      await api.get(endpoint);
      return undefined;
    },
  };
}

/** Some endpoints are asked in two ways under one name. */
function uniqueByName(endpoints: readonly Endpoint<unknown>[]): Endpoint<unknown>[] {
  return endpoints.filter(({ name }, index) => endpoints.findIndex((other) => other.name === name) === index);
}
