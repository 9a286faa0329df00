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
  let failures = 0;

  /** The first such faults may be the beginning of an outage that the next vital poll finds. */
  function isOfServer(kind: string, fault: unknown): boolean {
    if (isAway()) return true;
    if (failures > silentFailures) return false;
    if (isVital && fault !== undefined) return kind === 'timeout';
    // A sweep that went on has no fault of its own, only that of what it asked.
    if (!(fault instanceof ApiError)) return fault === undefined && kindsOfServer.includes(kind);
    return fault.details.unsent === true || isOfWholeServer(fault);
  }

  function note(outcome: Outcome, fault: unknown): void {
    const { result } = outcome;
    if (result === 'failed') {
      failures += 1;
      if (told === toWord(outcome)) return log.debug({ ...key, ...outcome }, 'poll result unchanged');
      if (isOfServer(outcome.kind, fault)) return log.debug({ ...key, ...outcome }, 'poll failed with its server');
      told = toWord(outcome);
      return log.warn({ ...key, kind: outcome.kind, error: outcome.message }, 'poll failed');
    }
    const isChange = before === undefined || toWord(before) !== toWord(outcome);
    const wasTold = told !== undefined;
    told = undefined;
    failures = 0;
    if (result === 'off') {
      if (isChange) log.info({ ...key, reason: outcome.reason, why: outcome.message }, 'collector switched off');
      return;
    }
    if (wasTold || before?.result === 'off') log.info({ ...key, series: outcome.series }, 'poll recovered');
    else if (before === undefined) log.debug({ ...key, series: outcome.series }, 'first poll succeeded');
    else log.debug({ ...key, ...outcome }, 'poll result unchanged');
  }

  return {
    note: (outcome: Outcome, fault: unknown): void => {
      note(outcome, fault);
      before = outcome;
    },
  };
}

const kindsOfServer: readonly string[] = ['network', 'timeout', 'server', 'busy', 'unauthorized'];

/** Within the time of as many tries a vital poll ends. */
const silentFailures = 2;
