import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Log } from '../log.ts';
import { type Outcome, toWord } from './outcome.ts';
import type { PollKey } from './poll-key.ts';

type PollLogOptions = {
  readonly key: PollKey;
  readonly log: Log;
  /** True for a poll whose faults are the server's: another line reports these. */
  readonly isVital: boolean;
  /** Reports whether the server is known not to answer, or to refuse the credentials. */
  readonly isAway: () => boolean;
};

/** Logs the changes of one poll; a trouble of the whole server is one line about the server, and none of each of its polls. */
export function createPollLog({ key, log, isVital, isAway }: PollLogOptions) {
  let before: Outcome | undefined;
  /** The fault that was logged and is not over. */
  let told: string | undefined;

  /** The first such fault may be the beginning of an outage that the next vital poll finds. */
  function isOfServer(fault: unknown): boolean {
    if (isAway()) return true;
    const isFirst = before?.result !== 'failed';
    return !isVital && isFirst && fault instanceof ApiError && isOfWholeServer(fault);
  }

  function note(outcome: Outcome, fault: unknown): void {
    const { result } = outcome;
    if (result === 'failed') {
      if (told === toWord(outcome) || isOfServer(fault)) return log.debug({ ...key, ...outcome }, 'poll failed again');
      told = toWord(outcome);
      return log.warn({ ...key, kind: outcome.kind, error: outcome.message }, 'poll failed');
    }
    const isChange = before === undefined || toWord(before) !== toWord(outcome);
    const wasTold = told !== undefined;
    told = undefined;
    if (result === 'off') {
      if (isChange) log.info({ ...key, reason: outcome.reason, why: outcome.message }, 'collector switched off');
      return;
    }
    if (wasTold || before?.result === 'off') log.info({ ...key, series: outcome.series }, 'poll recovered');
    else log.debug({ ...key, series: outcome.series }, 'poll succeeded');
  }

  return {
    note: (outcome: Outcome, fault: unknown): void => {
      note(outcome, fault);
      before = outcome;
    },
  };
}
