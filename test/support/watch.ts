import { createProjectList, type ProjectList } from '../../src/api/project-list.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Watch } from '../../src/schedule/collector.ts';

export type WatchSettings = Partial<Omit<Watch, 'projects'>> & {
  readonly isWanted?: (project: string) => boolean;
  readonly labelsOf?: Watch['projects']['labelsOf'];
};

/** The configuration of a watched server: all projects and jobs by default. */
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
