import type { Finished } from '../../domain/execution.ts';
import { endings } from '../../domain/execution.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { toEnding, toJobName } from '../counting/naming.ts';

/** The kind of ledger documents that store counted executions. */
export const pageKind = 'history-page';

/** The executions of one page, with only the fields that series need. */
type Page = {
  readonly project: string;
  readonly jobs: readonly (readonly [group: string, name: string])[];
  readonly runs: readonly (readonly [
    endedAtMs: number,
    durationMs: number | null,
    job: number,
    ending: number,
    type: string,
    succeededNodes: number,
    ...failedNodes: readonly string[],
  ])[];
};

export function toPage(project: string, runs: readonly Finished[]): LedgerDocument {
  const jobs = new Map<string, number>();
  const named: (readonly [string, string])[] = [];
  const kept = runs.map((run): Page['runs'][number] => {
    const { group, name } = toJobName(run);
    const key = JSON.stringify([group, name]);
    const job = jobs.get(key) ?? jobs.size;
    if (job === jobs.size) named.push([group, name]);
    jobs.set(key, job);
    const durationMs = run.lacksStart === true ? null : run.endedAtMs - run.startedAtMs;
    const ending = endings.indexOf(toEnding(run));
    return [run.endedAtMs, durationMs, job, ending, run.type ?? '', run.succeededNodes, ...run.failedNodes];
  });
  const [first] = runs;
  const page: Page = { project, jobs: named, runs: kept };
  return { kind: pageKind, key: JSON.stringify([project, first?.id, first?.startedAtMs]), body: JSON.stringify(page) };
}

export function countRuns(pages: readonly LedgerDocument[]): number {
  return pages.reduce((sum, { body = '' }) => sum + parsePage(body).runs.length, 0);
}

/** Returns the executions of a page with the fields that counting needs. */
export function* readPage({ body = '' }: LedgerDocument): Generator<readonly [project: string, run: Finished]> {
  const { project, jobs, runs } = parsePage(body);
  for (const [endedAtMs, durationMs, job, ending, type, succeededNodes, ...failedNodes] of runs) {
    const [group = '', name = ''] = jobs[job] ?? [];
    const run: Finished = {
      id: 0,
      project,
      status: endings[ending] ?? 'other',
      customStatus: undefined,
      startedAtMs: endedAtMs - (durationMs ?? 0),
      ...(durationMs === null ? { lacksStart: true } : {}),
      endedAtMs,
      job: name === '' ? undefined : { id: undefined, group, name, averageDurationMs: undefined },
      isJobDeleted: false,
      type,
      succeededNodes,
      failedNodes,
    };
    yield [project, run];
  }
}

function parsePage(body: string): Page {
  // This cast is safe: only this file writes these documents.
  return JSON.parse(body) as Page;
}
