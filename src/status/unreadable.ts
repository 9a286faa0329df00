import type { HiddenHistory } from '../executions/reading/visibility.ts';
import type { ExecutionsOfServer, ServerStatus } from './status.ts';

type Unreadable = Pick<ExecutionsOfServer, 'runningSight' | 'runningDenied' | 'hidden'>;

export type Sight = Pick<ServerStatus, 'executions' | 'visibleProjects' | 'state'>;

/** Sentences about the executions of a server, or of one of its projects, that its credentials may not read. */
export function listUnreadable({ executions, visibleProjects, state }: Sight, only?: string): readonly string[] {
  if (state !== 'up') return [];
  if (visibleProjects === 0) return ['the credentials may not read any project: the project list is empty'];
  if (executions === undefined) return [];
  const { runningSight, runningDenied, hidden } = executions;
  const isMeant = (project: string): boolean => only === undefined || project === only;
  const meant = {
    hidden: hidden.filter(({ project }) => isMeant(project)),
    runningDenied: runningDenied.filter(isMeant),
  };
  return [...listSentences({ runningSight, ...meant })];
}

function* listSentences({ runningSight, runningDenied, hidden }: Unreadable): Generator<string> {
  const counted = hidden.filter(({ counted: total }) => total !== undefined);
  yield* listCounts(counted.filter(({ readable }) => readable === 0));
  yield* listCounts(counted.filter(({ readable }) => readable > 0));
  const denied = hidden.filter(({ counted: total }) => total === undefined);
  if (denied.length > 0) yield `history of ${toNames(denied.map(({ project }) => project))}: not allowed to see`;
  if (runningSight === 'denied') yield 'running executions: not allowed to see';
  else if (runningDenied.length > 0) yield `running executions of ${toNames(runningDenied)}: not allowed to see`;
}

function* listCounts(projects: readonly HiddenHistory[]): Generator<string> {
  if (projects.length === 0) return;
  let [all, shown] = [0, 0];
  for (const { counted = 0, readable } of projects) {
    all += counted;
    shown += readable;
  }
  yield `history of ${toNames(projects.map(({ project }) => project))}: ${all} counted, ${shown} readable`;
}

/** The first few of them, in full. */
function toNames(names: readonly string[]): string {
  const shown = names.slice(0, names.length > 4 ? 3 : 4).join(', ');
  return names.length > 4 ? `${shown} and ${names.length - 3} more` : shown;
}
