import type { Api } from '../api/client.ts';
import { projectExecutions, runningExecutions } from '../api/endpoints/executions.ts';
import { projectJobs } from '../api/endpoints/jobs.ts';
import { projects } from '../api/endpoints/projects.ts';
import { ApiError } from '../api/errors.ts';
import { toCount } from '../domain/sizes.ts';
import { type Finding, findInProjects, type Probe } from './probe.ts';

type Options = {
  /** Returns the room for jobs with their own series, by the number of projects. */
  readonly roomOf: (projects: number) => JobRoom;
  /** The watched projects; `findNone` explains an empty list. */
  readonly readNames: (api: Api) => Promise<readonly string[]>;
  readonly findNone: () => Finding;
  readonly nowMs: () => number;
};

/** Room for jobs, and the option that bounds it. */
export type JobRoom = { readonly jobs: number; readonly limitedBy: string };

/** The rounds over executions: what runs, and what ended within a day, project by project because rights differ. */
export function toExecutionProbes({ readNames, findNone, nowMs, roomOf }: Options): readonly Probe[] {
  async function findRunning(api: Api): Promise<Finding> {
    const names = await readNames(api);
    if (names.length === 0) return findNone();
    const ask = (project: string) => api.get(runningExecutions, { path: { project }, query: { max: 1 } });
    try {
      await ask('*');
    } catch (error) {
      // Releases that take the `*` for a name are asked project by project by the rounds, too.
      if (!(error instanceof ApiError) || error.details.isOfService !== true || error.kind === 'forbidden') throw error;
    }
    // The list of all leaves out in silence what may not be read.
    return findInProjects(names.slice(0, mostProjects), names.length, ask);
  }

  async function findHistory(api: Api): Promise<Finding> {
    const names = await readNames(api);
    if (names.length === 0) return findNone();
    const hidden: Count[] = [];
    const finding = await findInProjects(names.slice(0, mostProjects), names.length, async (project) => {
      const end = nowMs();
      const query = { begin: end - dayMs, end, max: mostCompared };
      const { total, items, oddRows } = await api.get(projectExecutions, { path: { project }, query });
      const [counted, readable] = [Math.min(total, mostCompared), items.length + oddRows.length];
      if (readable < counted) hidden.push({ project, counted, readable });
    });
    if (hidden.length === 0) return finding;
    const note = [...toSentences(hidden), finding?.note].filter((part) => part !== undefined).join('; ');
    return finding?.fault === undefined ? { note, verdict: 'hidden' } : { ...finding, note };
  }

  /** Every job may run one day. */
  async function findRoom(api: Api): Promise<Finding> {
    const names = await readNames(api);
    if (names.length === 0) return findNone();
    let jobs = 0;
    const tried = names.slice(0, mostProjects);
    const finding = await findInProjects(tried, names.length, async (project) => {
      jobs += (await api.get(projectJobs, { path: { project } })).length;
    });
    if (finding?.fault !== undefined) return finding;
    const { jobs: room, limitedBy } = roomOf(names.length);
    const about = `${toCount(jobs, 'job')}, and room for ${toCount(room, 'job')} with series of their own`;
    if (jobs <= room) return { note: `${about}; ${finding?.note}` };
    const note = `${about}: ${toCount(jobs - room, 'job')} may be counted only in __other__; raise ${limitedBy}; ${finding?.note}`;
    return { note, verdict: 'left out' };
  }

  return [
    { name: 'job-series', reads: [projectJobs], ask: findRoom },
    { name: runningExecutions.name, reads: [runningExecutions], ask: findRunning },
    { name: projectExecutions.name, reads: [projectExecutions, projects], ask: findHistory },
  ];
}

type Count = { readonly project: string; readonly counted: number; readonly readable: number };

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

const dayMs = 86_400_000;
const mostCompared = 200;
/** More than of other things: rights to executions are given project by project. */
const mostProjects = 25;
