import type { Api } from '../../api/client.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { projectExecutions, runningExecutions } from '../../api/endpoints/executions.ts';
import { type Job, jobDefinition, jobForecast, jobInfo, projectJobs } from '../../api/endpoints/jobs.ts';
import { projects } from '../../api/endpoints/projects.ts';
import { systemInfo } from '../../api/endpoints/system.ts';
import { ApiError, isUnknownStar } from '../../api/errors.ts';
import { createProjectList } from '../../api/project-list.ts';
import type { Config, ServerConfig } from '../../config/config.ts';
import type { collectors } from '../../daemon/catalogue/collectors.ts';
import { toExecutionSettings, toJobRoom } from '../../daemon/server-settings.ts';
import { toCount } from '../../domain/format.ts';
import { systemClock } from '../../domain/system-clock.ts';
import { type Finding, findInProjects, type Probe } from './probe.ts';

type Collector = (typeof collectors)[number];
type ProjectCollector = Extract<Collector, { kind: 'project' }>;
type Watch = Parameters<ProjectCollector['covers']>[1];

/** Builds each request of the enabled collectors once. Of requests by project, only the first few are built. */
export function toProbes(server: ServerConfig, config: Config, enabled: readonly Collector[]) {
  const { jobs } = config;
  const list = createProjectList({ isWanted: server.projects.isWanted, clock: systemClock });
  const watch: Watch = {
    projects: { read: list.read, labelsOf: server.projects.labelsOf },
    // The list of jobs is requested, but not the average duration of each job.
    jobs: { isWanted: jobs.isWanted, detail: jobs.detail === 'none' ? 0 : 1, asksForAverages: false },
    hasExecutionMetrics: (project) => config.collectors['execution-metrics']?.projects?.matches(project) === true,
  };

  /** The list of projects is requested once; its error concerns all requests by project. */
  let listed: Promise<readonly string[]> | undefined;
  function readNames(api: Api): Promise<readonly string[]> {
    listed ??= list.read(api).then((found) => found.map(({ name }) => name));
    return listed;
  }

  /** Explains an empty list of projects. A client cannot know whether projects are missing or hidden. */
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
    const ofProjects = toProjectReads(collector);
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
        if (covered.length === 0) return { verdict: 'not asked', note: 'configuration selects no project for it' };
        return findInProjects(covered.slice(0, maxProjects), covered.length, (project) =>
          collect(api, { name: project, needs: new Map(covered.map((name) => [name, undefined])) }, watch),
        );
      },
    };
  }

  async function findProjects(api: Api): Promise<Finding> {
    await readNames(api);
    if (list.visible() !== 0) return undefined;
    const note = 'nothing is visible to these credentials: the server has no project, or they cannot read any';
    return { verdict: 'nothing visible', note };
  }

  const settings = toExecutionSettings(server, config);
  const roomOf = (projects: number) => toJobRoom(settings, projects);
  const ofExecutions = toExecutionProbes({ readNames, findNone, roomOf, nowMs: systemClock.now });

  // System information is always requested, because it shows whether the server itself responds.
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
      if (collector.kind === 'project') return [ofCollector(collector)];
      return collector.kind === 'server'
        ? toProjectReads(collector).map((read) => toProjectProbe(read, { readNames, findNone }))
        : [];
    }),
  ];
}

/** Rights are usually granted by patterns, so a few projects are enough. */
const maxProjects = 5;

type ProjectRead = Endpoint<unknown, `${string}{project}${string}`>;

function toProjectReads({ reads }: Collector): readonly ProjectRead[] {
  return reads.filter((read): read is ProjectRead => read.path.includes('{project}'));
}

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

/** Removes endpoints with the same name, because some endpoints have two forms. */
function uniqueByName(endpoints: readonly Endpoint<unknown>[]): Endpoint<unknown>[] {
  return endpoints.filter(({ name }, index) => endpoints.findIndex((other) => other.name === name) === index);
}

function toProjectProbe(endpoint: ProjectRead, { readNames, findNone }: Options): Probe {
  return {
    name: endpoint.name,
    reads: [endpoint],
    ask: async (api) => {
      const names = await readNames(api);
      if (names.length === 0) return findNone();
      return findInProjects(names.slice(0, maxProjects), names.length, (project) =>
        api.get(endpoint, { path: { project } }),
      );
    },
  };
}

type Options = { readNames: (api: Api) => Promise<readonly string[]>; findNone: () => Finding };

/** Builds the requests of the schedule watch: start times of one scheduled job in each of a few projects. */
function toScheduleProbes({ readNames, findNone }: Options): readonly Probe[] {
  async function find(api: Api): Promise<Finding> {
    if (!(await api.supports(jobInfo))) {
      return {
        verdict: 'too old',
        note: 'needs API 18: this server does not report next runs, so schedules are not watched',
      };
    }
    const names = await readNames(api);
    if (names.length === 0) return findNone();
    const hasForecast = await api.supports(jobForecast);
    let scheduled = 0;
    const finding = await findInProjects(names.slice(0, maxListedProjects), names.length, async (project) => {
      const jobs = (await api.get(projectJobs, { path: { project } })).filter(isOn);
      scheduled += jobs.length;
      const [first] = jobs;
      if (first === undefined) return;
      const path = { id: first.id };
      if (hasForecast) await api.get(jobForecast, { path, query: { time: '1d', max: 1 } });
      else await api.get(jobInfo, { path });
    });
    if (finding?.fault !== undefined) return finding;
    const how = hasForecast ? '' : '; before API version 31 only the next run of each job is known';
    return { note: `${toCount(scheduled, 'scheduled job')}${how}; ${finding?.note}` };
  }

  return [{ name: jobForecast.name, reads: [projectJobs, jobForecast], ask: find }];
}

function isOn({ isScheduled, isEnabled, isScheduleEnabled }: Job): boolean {
  return isScheduled === true && isEnabled === true && isScheduleEnabled === true;
}

const maxListedProjects = 5;

type ExecutionProbes = {
  roomOf: (projects: number) => ReturnType<typeof toJobRoom>;
  /** The watched projects. `findNone` explains why no project is watched. */
  readNames: (api: Api) => Promise<readonly string[]>;
  findNone: () => Finding;
  nowMs: () => number;
};

/** Builds the requests of rounds: running executions, and executions of the last day by project, because rights differ. */
function toExecutionProbes({ readNames, findNone, nowMs, roomOf }: ExecutionProbes): readonly Probe[] {
  async function findRunning(api: Api): Promise<Finding> {
    const names = await readNames(api);
    if (names.length === 0) return findNone();
    const ask = (project: string) => api.get(runningExecutions, { path: { project }, query: { max: 1 } });
    try {
      await ask('*');
    } catch (error) {
      // After a refusal of `*`, rounds also read project by project.
      if (!isUnknownStar(error, api.server().release)) throw error;
    }
    // Up to 3.4.4, the list of all projects omits executions that cannot be read, without an error.
    return findInProjects(names.slice(0, maxReadProjects), names.length, ask);
  }

  async function findHistory(api: Api): Promise<Finding> {
    const names = await readNames(api);
    if (names.length === 0) return findNone();
    const hidden: Count[] = [];
    const finding = await findInProjects(names.slice(0, maxReadProjects), names.length, async (project) => {
      const end = nowMs();
      const query = { begin: end - dayMs, end, max: maxCompared };
      const { total, items, oddRows } = await api.get(projectExecutions, { path: { project }, query });
      const [counted, readable] = [Math.min(total, maxCompared), items.length + oddRows.length];
      if (readable < counted) hidden.push({ project, counted, readable });
    });
    if (hidden.length === 0) return finding;
    const viewed = await findViewed(api, hidden);
    const note = [...toSentences(hidden), ...viewed, finding?.note].filter((part) => part !== undefined).join('; ');
    return finding?.fault === undefined ? { note, verdict: 'hidden' } : { ...finding, note };
  }

  /** If the history of a project is hidden, returns the name of a job that can be viewed but not read. */
  async function findViewed(api: Api, [first]: readonly Count[]): Promise<string[]> {
    if (first === undefined || !(await api.supports(jobDefinition))) return [];
    const { release = '' } = api.server();
    const [major = 0, minor = 0] = release.split('.').map(Number);
    const rights = major < 6 || (major === 6 && minor === 0) ? '`read`' : minor === 1 ? '`read` or `view_history`' : '';
    if (major === 0 || rights === '') return [];
    for (const { id, name } of (await api.get(projectJobs, { path: { project: first.project } })).slice(
      0,
      maxTriedJobs,
    )) {
      try {
        await api.get(jobDefinition, { path: { id } });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.kind !== 'forbidden') continue;
        return [
          `the credentials can view ${name}, but not read it: release ${major}.${minor} hides its executions without ${rights}, while jobs/export shows its whole definition`,
        ];
      }
    }
    return [];
  }

  /** Compares the number of jobs with the number of possible series. Jobs that never ran count too, because they may run. */
  async function findRoom(api: Api): Promise<Finding> {
    const names = await readNames(api);
    if (names.length === 0) return findNone();
    let jobs = 0;
    const tried = names.slice(0, maxReadProjects);
    const finding = await findInProjects(tried, names.length, async (project) => {
      jobs += (await api.get(projectJobs, { path: { project } })).length;
    });
    if (finding?.fault !== undefined) return finding;
    const { jobs: room, limitedBy } = roomOf(names.length);
    const about = `${toCount(jobs, 'job')}; ${toCount(room, 'job')} can have their own series`;
    const sizes = { projects: names.length, readProjects: tried.length, jobs };
    if (jobs <= room) return { note: `${about}; ${finding?.note}`, sizes };
    const note = `${about}: ${toCount(jobs - room, 'job')} may be counted only in __other__; raise ${limitedBy}; ${finding?.note}`;
    return { note, verdict: 'left out', sizes };
  }

  return [
    { name: 'job-series', reads: [projectJobs], ask: findRoom },
    { name: runningExecutions.name, reads: [runningExecutions], ask: findRunning },
    { name: projectExecutions.name, reads: [projectExecutions, projects], ask: findHistory },
  ];
}

type Count = { project: string; counted: number; readable: number };

function toSentences(hidden: readonly Count[]): readonly string[] {
  const whole = hidden.filter(({ readable }) => readable === 0);
  const partly = hidden.filter(({ readable }) => readable > 0);
  return [whole, partly].flatMap((projects) => {
    if (projects.length === 0) return [];
    let [counted, readable] = [0, 0];
    for (const one of projects) {
      counted += one.counted;
      readable += one.readable;
    }
    return [
      `history of ${projects.map(({ project }) => project).join(', ')}: ${counted} counted, ${readable} readable`,
    ];
  });
}

const maxTriedJobs = 5;
const dayMs = 86_400_000;
const maxCompared = 200;
/** The limit is high, because rights to executions are granted by project. */
const maxReadProjects = 25;
