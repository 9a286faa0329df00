import { toFormerPath } from '../../diagnosis/changes/deciding/kinds.ts';
import { ofJobPath, toJobPath } from '../../domain/job.ts';
import type { Why } from '../../expected-runs/deciding/why.ts';
import type { ServerPolls } from '../server-polls.ts';

type Known = {
  readonly executions: Pick<NonNullable<ServerPolls['executions']>, 'factsOf'> | undefined;
  readonly expected: Pick<NonNullable<ServerPolls['expected']>, 'jobs' | 'why'> | undefined;
  readonly changes: Pick<NonNullable<ServerPolls['changes']>, 'surroundings' | 'list'> | undefined;
};

/** Finds the jobs of a server by their current and former paths. A job keeps its id when its name changes. */
export function createJobNames({ executions, expected, changes }: Known) {
  function pathOf(id: string): string | undefined {
    const watched = expected?.jobs().get(id);
    if (watched !== undefined && watched.goneAtMs === undefined) return toJobPath(watched);
    const listed = changes?.surroundings().jobs.get(id);
    return listed && toJobPath(listed);
  }

  /** Returns the id of the job that has a path in a list of jobs. */
  function listedAt(path: string): string | undefined {
    for (const [id, job] of expected?.jobs() ?? [])
      if (job.goneAtMs === undefined && toJobPath(job) === path) return id;
    // The list of jobs may be older, so the path is compared too.
    for (const [id, job] of changes?.surroundings().jobs ?? [])
      if (toJobPath(job) === path && pathOf(id) === path) return id;
    return undefined;
  }

  /** Returns the id of the last job that ran with a path. */
  function ranAs(path: string): string | undefined {
    const { project, group, name } = ofJobPath(path);
    return executions?.factsOf(project, group, name)?.jobId;
  }

  function lastPathOf(path: string, id: string): string | undefined {
    const { project, group, name } = ofJobPath(path);
    const facts = executions?.factsOf(project, group, name, id);
    return facts && toJobPath(facts);
  }

  /** Follows the renames in the journal, which is sorted newest first. */
  function findRename(path: string, changesOfJobs = changes?.list() ?? []): string | undefined {
    const index = changesOfJobs.findIndex((change) => toFormerPath(change) === path);
    const { subject } = changesOfJobs[index] ?? {};
    if (subject === undefined || listedAt(subject) !== undefined) return subject;
    return findRename(subject, changesOfJobs.slice(0, index));
  }

  /** Returns the current path of a job by its former path; undefined if a job has the path now. */
  function movedTo(path: string): string | undefined {
    if (listedAt(path) !== undefined) return undefined;
    const id = ranAs(path);
    const now = (id === undefined ? undefined : (pathOf(id) ?? lastPathOf(path, id))) ?? findRename(path);
    return now === path ? undefined : now;
  }

  return {
    idOf: (path: string): string | undefined => listedAt(path) ?? ranAs(path),
    movedTo,
    /** Explains the last decision about each watched job that has the given id, path or former path. */
    why: (job: string): readonly Why[] => {
      const path = movedTo(job);
      const told = expected?.why(path ?? job) ?? [];
      return path === undefined
        ? told
        : told.map((each) => ({ ...each, sentence: `${job} is named ${path} now. ${each.sentence}` }));
    },
  };
}
