import { ApiError } from '../api/errors.ts';
import { isAuthenticatedAnswer } from '../api/verdict.ts';
import type { Clock } from '../domain/clock.ts';
import type { Self } from '../metrics/self.ts';

export type Seen = {
  readonly state: 'up' | 'refused' | 'down';
  readonly sinceMs: number;
  readonly message: string | undefined;
};

/** Decides from vital polls whether a server is up and accepts the credentials. One late response or one 500 is no outage. */
export function createVitality(
  self: Pick<Self, 'up' | 'credentialsAccepted'>,
  key: { server: string; member?: string },
  clock: Pick<Clock, 'now'>,
  onChange: (now: Seen, before: Seen | undefined) => void = () => undefined,
) {
  let isRefused = false;
  let isOneFault = false;
  let answeredTicks = 0;
  let seen: Seen | undefined;
  const listeners: ((before: Seen) => void)[] = [];

  function note(state: Seen['state'], message: string | undefined): void {
    self.up.set(key, Number(state === 'up'));
    const before = seen;
    seen = { state, sinceMs: before?.state === state ? before.sinceMs : clock.now(), message };
    if (before?.state !== state) onChange(seen, before);
    if (before === undefined || before.state === 'up' || state !== 'up') return;
    for (const listener of listeners) listener(before);
  }

  return {
    /** Returns the state for metrics and pages; undefined until a vital poll has ended. */
    seen: () => seen,
    /** Adds a listener that is called with the previous state whenever the server is up again. */
    onBack: (listener: (before: Seen) => void) => {
      listeners.push(listener);
    },
    /** Call at the end of each vital poll with its error, if it failed, and its start. */
    ended: (fault?: unknown, startedTicks = 0) => {
      // Errors of the exporter and missing endpoints are no errors of the server.
      if (fault !== undefined && !(fault instanceof ApiError)) return;
      if (fault?.kind === 'unsupported_version' && fault.details.status === undefined) return;
      if (fault?.details.isOwnLimit === true) return;
      const isAnswer = fault === undefined || isAuthenticatedAnswer(fault);
      // Polls overlap, so an older poll that fails now says nothing about a server that has responded to a newer poll.
      if (!isAnswer && startedTicks < answeredTicks) return;
      const wasOneFault = isOneFault;
      // A status 500 concerns one endpoint, not the whole server.
      isOneFault = fault?.kind === 'timeout' || fault?.details.status === 500;
      if (isOneFault && !wasOneFault && seen?.state === 'up') return;
      if (isAnswer) {
        answeredTicks = Math.max(answeredTicks, startedTicks);
        note('up', undefined);
        self.credentialsAccepted.set(key, 1);
        isRefused = false;
        return;
      }
      note(fault.kind === 'unauthorized' ? 'refused' : 'down', fault.message);
      if (fault.kind === 'unauthorized') {
        self.credentialsAccepted.set(key, 0);
        isRefused = true;
      } else if (isRefused && fault.details.status === undefined) {
        // While the server does not respond, credentials count as neither accepted nor refused.
        self.credentialsAccepted.remove(key);
        isRefused = false;
      }
    },
  };
}

export type Vitality = ReturnType<typeof createVitality>;

export function isAway(seen: Seen | undefined): boolean {
  return seen !== undefined && seen.state !== 'up';
}
