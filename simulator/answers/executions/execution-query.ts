import { type Execution, jobOf } from '../../world/installation.ts';
import { type Answer, type ApiRequest, badParameter } from '../answer.ts';
import { beforeNow, readDate } from '../dates.ts';

/** The filters of the executions query (API reference, "Executions") that the exporter uses. */
export type ExecutionQuery = {
  readonly beginMs: number;
  readonly endMs: number;
  /** With a date, the list has only finished executions. */
  readonly dated: boolean;
  readonly matches: (execution: Execution) => boolean;
  /** True if the query selects executions only by dates, so that counting is fast. */
  readonly plain: boolean;
};

export function readQuery(request: ApiRequest): ExecutionQuery | Answer {
  const { query, nowMs } = request;
  // A malformed recentFilter is silently ignored.
  let beginMs = beforeNow(query.get('recentFilter') ?? '', nowMs) ?? Number.NEGATIVE_INFINITY;
  let endMs = Number.POSITIVE_INFINITY;
  for (const name of ['begin', 'end'] as const) {
    const given = query.get(name);
    if (given === null || given === '') continue;
    const time = readDate(given);
    if (time === undefined) return badParameter(request, 'api.error.history.date-format', name, given);
    beginMs = name === 'begin' ? time : beginMs;
    endMs = name === 'end' ? time : endMs;
  }
  const jobIds = query.getAll('jobIdListFilter').filter((id) => id !== '');
  return {
    beginMs,
    endMs,
    dated: Number.isFinite(beginMs) || Number.isFinite(endMs),
    plain: jobIds.length === 0,
    matches: (execution) => jobIds.length === 0 || jobIds.includes(jobOf(execution)?.id ?? ''),
  };
}
