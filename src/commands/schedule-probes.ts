import type { Api } from '../api/client.ts';
import { type Job, jobForecast, jobInfo, projectJobs } from '../api/endpoints/jobs.ts';
import { toCount } from '../domain/sizes.ts';
import { type Finding, findInProjects, type Probe } from './probe.ts';

type Options = {
  readonly readNames: (api: Api) => Promise<readonly string[]>;
  readonly findNone: () => Finding;
};

/**
 * The schedule watch: whether the server tells when it starts jobs, asked of one scheduled job in each of a few
 * projects.
 */
export function toScheduleProbes({ readNames, findNone }: Options): readonly Probe[] {
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
    const finding = await findInProjects(names.slice(0, mostProjects), names.length, async (project) => {
      const jobs = (await api.get(projectJobs, { path: { project } })).filter(isOn);
      scheduled += jobs.length;
      const [first] = jobs;
      if (first === undefined) return;
      const path = { id: first.id };
      if (hasForecast) await api.get(jobForecast, { path, query: { time: '1d', max: 1 } });
      else await api.get(jobInfo, { path });
    });
    if (finding?.fault !== undefined) return finding;
    const how = hasForecast ? '' : '; before API version 31 only the next run of each is known';
    return { note: `${toCount(scheduled, 'scheduled job')}${how}; ${finding?.note}` };
  }

  return [{ name: jobForecast.name, reads: [projectJobs, jobForecast], ask: find }];
}

function isOn({ isScheduled, isEnabled, isScheduleEnabled }: Job): boolean {
  return isScheduled === true && isEnabled === true && isScheduleEnabled === true;
}

const mostProjects = 5;
