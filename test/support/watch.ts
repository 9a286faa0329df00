import { createProjectList, type ProjectList } from '../../src/api/project-list.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Watch } from '../../src/schedule/collector.ts';

export type WatchSettings = Partial<Omit<Watch, 'projects'>> & {
  readonly isWanted?: (project: string) => boolean;
  readonly labelsOf?: Watch['projects']['labelsOf'];
};

/** A watched server; unless configured otherwise, all of its projects and jobs are watched. */
export function createTestWatch(
  clock: Clock,
  settings: WatchSettings = {},
): { watch: Watch; projectList: ProjectList } {
  const { isWanted = () => true, labelsOf = () => [], ...others } = settings;
  const projectList = createProjectList({ isWanted, clock });
  const jobs = { isWanted: () => true, detail: 200 };
  const watch = { projects: { read: projectList.read, labelsOf }, jobs, hasExecutionMetrics: () => true, ...others };
  return { watch, projectList };
}
