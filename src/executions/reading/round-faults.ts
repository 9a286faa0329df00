import { ApiError, type ErrorKind } from '../../api/errors.ts';

export function createRoundFaults(signal: AbortSignal) {
  const all: ApiError[] = [];
  const unasked: ApiError[] = [];
  let hasAnswered = false;

  /** The credentials are refused, requests are held back, or the first two requests got no answer. */
  function spoilsTheRest({ kind, details }: ApiError): boolean {
    if (kind === 'unauthorized') return true;
    // If a request was not sent, the server is not the cause.
    if (details.unsent === true) return kind !== 'rejected';
    return !hasAnswered && all.filter(isSilence).length > 1;
  }

  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || signal.aborted) throw error;
      if (error.details.isOwnLimit === true) {
        unasked.push(error);
        return false;
      }
      all.push(error);
      if (spoilsTheRest(error)) throw error;
      return false;
    }
  }

  return {
    all,
    /** Runs one part of a round and records its error. Rethrows errors that make the rest pointless. */
    attempt: async (work: () => Promise<void>): Promise<void> => {
      await attempt(work);
    },
    /** Like `attempt`, for a part that always sends requests. If it succeeds, the server is reachable. */
    ask: async (question: () => Promise<void>): Promise<void> => {
      const isAnswered = await attempt(question);
      hasAnswered ||= isAnswered;
    },
    /** Returns the number of parts for which the exporter's own limits left no time; these are not errors. */
    unasked: (): number => unasked.length,
    /** Reports whether an error affects this round only: the server is reachable and accepts the credentials. */
    isOfRound: (error: unknown): boolean =>
      hasAnswered && error instanceof ApiError && error.kind !== 'unauthorized' && !signal.aborted,
    /** Returns the error if the server never answered in this round; undefined if it answered, or got no request. */
    silence: (): ApiError | undefined => (hasAnswered ? undefined : (all[0] ?? unasked[0])),
  };
}

export type RoundFaults = ReturnType<typeof createRoundFaults>;

/** Reports whether the error did not come from the service itself. */
function isSilence({ kind, details }: ApiError): boolean {
  return silentKinds.includes(kind) || (kind === 'server' && details.status !== 500 && details.status !== 501);
}

const silentKinds: readonly ErrorKind[] = ['network', 'tls', 'timeout', 'busy', 'html', 'redirect', 'empty'];
