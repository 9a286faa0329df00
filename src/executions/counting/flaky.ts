import type { Ending } from '../../domain/execution.ts';
import type { Flakiness } from '../../domain/job.ts';

/** Adds the newest run. An aborted run and a retried attempt prove nothing. */
export function addResult(before: Flakiness | undefined, ending: Ending, attempt = 0): Flakiness | undefined {
  const mark = toMark(ending, attempt);
  if (mark === undefined) return before;
  const marks = `${before?.marks ?? ''}${mark}`.slice(-maxMarks);
  if (marks.length >= cleanRuns && /^s+$/.test(marks.slice(-cleanRuns))) return { marks, isFlaky: false };
  return { marks, isFlaky: before?.isFlaky === true || isOften(marks) };
}

function toMark(ending: Ending, attempt: number): string | undefined {
  if (ending === 'succeeded') return attempt > 0 ? 'r' : 's';
  return ending === 'failed' || ending === 'timedout' || ending === 'other' ? 'f' : undefined;
}

/** The result changed four times within twenty runs, or three of the runs needed a retry. */
function isOften(marks: string): boolean {
  let count = 0;
  for (let place = 1; place < marks.length; place += 1)
    if (isFailure(marks, place) !== isFailure(marks, place - 1)) count += 1;
  return count >= 4 || marks.replaceAll(/[^r]/g, '').length >= 3;
}

function isFailure(marks: string, place: number): boolean {
  return marks[place] === 'f';
}

const maxMarks = 20;
const cleanRuns = 10;
