import { ApiError, type ErrorKind } from '../../api/errors.ts';

export function createRoundFaults(signal: AbortSignal) {
  const all: ApiError[] = [];
  const unasked: ApiError[] = [];
  let hasAnswered = false;

  /**
   * Reports whether to send no more requests: credentials were refused, requests are held back, or two requests had no
   * response.
   */
  function spoilsTheRest({ kind, details }: ApiError): boolean {
    if (kind === 'unauthorized') return true;
    // If a request was not sent, the error is not caused by the server.
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
    /** Runs one part of a round and records its error. Rethrows errors that make further requests pointless. */
    attempt: async (work: () => Promise<void>): Promise<void> => {
      await attempt(work);
    },
    /** Like `attempt`, for a part whose success proves that the server is reachable. */
    ask: async (question: () => Promise<void>): Promise<void> => {
      const isAnswered = await attempt(question);
      hasAnswered ||= isAnswered;
    },
    /** Returns the number of parts skipped because of the exporter's own limits, which do not count as errors. */
    unasked: (): number => unasked.length,
    /** Reports whether an error concerns this round only: the server is reachable and accepts the credentials. */
    isOfRound: (error: unknown): boolean =>
      hasAnswered && error instanceof ApiError && error.kind !== 'unauthorized' && !signal.aborted,
    /** Returns the error of a server that gave no response in this round; undefined if it responded, or no request was sent. */
    silence: (): ApiError | undefined => (hasAnswered ? undefined : (all[0] ?? unasked[0])),
  };
}

export type RoundFaults = ReturnType<typeof createRoundFaults>;

/** Reports whether the service itself did not respond, for example after a network error or a page of a proxy. */
function isSilence({ kind, details }: ApiError): boolean {
  return silentKinds.includes(kind) || (kind === 'server' && details.status !== 500 && details.status !== 501);
}

const silentKinds: readonly ErrorKind[] = ['network', 'tls', 'timeout', 'busy', 'html', 'redirect', 'empty'];
