import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { projects } from '../api/endpoints/projects.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { createProjectList } from '../api/project-list.ts';
import type { Collector, ProjectCollector } from '../collectors/collector.ts';
import type { Watch } from '../collectors/watch.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import { toExecutionSettings } from '../daemon/server-settings.ts';
import { planRoom } from '../executions/series/series-plan.ts';
import { systemClock } from '../system-clock.ts';
import { type JobRoom, toExecutionProbes } from './execution-probes.ts';
import { type Finding, findInProjects, type Probe } from './probe.ts';
import { toScheduleProbes } from './schedule-probes.ts';

/** Builds the requests of the enabled collectors to a server, each once; of projects only the first few are asked. */
export function toProbes(server: ServerConfig, config: Config, enabled: readonly Collector[]) {
  const { jobs } = config;
  const list = createProjectList({ isWanted: server.projects.isWanted, clock: systemClock });
  const watch: Watch = {
    projects: { read: list.read, labelsOf: server.projects.labelsOf },
    // The list is asked for, and not each job for its average.
    jobs: { isWanted: jobs.isWanted, detail: jobs.detail === 'none' ? 0 : 1, asksForAverages: false },
    hasExecutionMetrics: (project) => config.collectors['execution-metrics']?.projects?.matches(project) === true,
  };

  /** Asked for once: where that fails, it has failed for all that go project by project. */
  let listed: Promise<readonly string[]> | undefined;
  function readNames(api: Api): Promise<readonly string[]> {
    listed ??= list.read(api).then((found) => found.map(({ name }) => name));
    return listed;
  }

  /** Explains an empty list: a client cannot know whether projects are missing or hidden. */
  function findNone(): Finding {
    const isLeftOut = (list.visible() ?? 0) > 0;
    return {
      verdict: 'not asked',
      note: isLeftOut
        ? `\`servers[].projects\` leaves out all ${list.visible()} projects`
        : 'no project is visible to these credentials',
    };
  }

  function ofCollector(collector: ProjectCollector): Probe {
    const { name, reads, covers, collect, collectAll } = collector;
    const ofProjects = reads.filter(({ path }) => path.includes('{project}'));
    return {
      name,
      reads,
      ask: async (api) => {
        if ((await collectAll(api, watch)) !== undefined) return undefined;
        const supported = await Promise.all(ofProjects.map((read) => api.supports(read)));
        if (!supported.includes(true)) {
          return { verdict: 'too old', note: `the API version in use has no ${ofProjects[0]?.name ?? name}` };
        }
        const names = await readNames(api);
        if (names.length === 0) return findNone();
        const covered = names.filter((project) => covers(project, watch));
        if (covered.length === 0) return { verdict: 'not asked', note: 'configuration chooses no project for it' };
        return findInProjects(covered.slice(0, mostProjects), covered.length, (project) =>
          collect(api, { name: project, of: covered.length }, watch),
        );
      },
    };
  }

  async function findProjects(api: Api): Promise<Finding> {
    await readNames(api);
    if (list.visible() !== 0) return undefined;
    const note = 'nothing is visible to these credentials: the server has no project, or they may read none';
    return { verdict: 'nothing visible', note };
  }

  const settings = toExecutionSettings(server, config);
  const roomOf = (count: number): JobRoom => {
    const { jobs: room } = planRoom(settings, { projects: count, projectHistograms: 0 });
    return { jobs: room, limitedBy: room >= settings.cap ? 'jobs.cap' : 'collectors.executions.max_series' };
  };
  const ofExecutions = toExecutionProbes({ readNames, findNone, roomOf, nowMs: systemClock.now });

  // System info is asked whatever is on: its answer shows whether this is the service at all.
  const ofServer = [systemInfo, ...enabled.flatMap(({ reads }) => reads)].filter(({ path }) => !path.includes('{'));
  return [
    ...uniqueByName(ofServer).map((endpoint) =>
      endpoint.name === projects.name
        ? { name: endpoint.name, reads: [projects], ask: findProjects }
        : toProbe(endpoint),
    ),
    ...enabled.flatMap((collector) => {
      if (collector.kind === 'executions') return ofExecutions;
      if (collector.kind === 'expected-runs') return toScheduleProbes({ readNames, findNone });
      return collector.kind === 'project' ? [ofCollector(collector)] : [];
    }),
  ];
}

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
