import { ApiError, type ErrorKind } from '../../api/errors.ts';

export function createRoundFaults(signal: AbortSignal) {
  const all: ApiError[] = [];
  const unasked: ApiError[] = [];
  let hasAnswered = false;

  /** Reports whether further requests are pointless: credentials were refused, requests are held back, or two had no response. */
  function spoilsTheRest({ kind, details }: ApiError): boolean {
    if (kind === 'unauthorized') return true;
    // The server did not cause the error of a request that was not sent.
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
    /** Runs one part of a round, and records its error. Rethrows an error that makes further requests pointless. */
    attempt: async (work: () => Promise<void>): Promise<void> => {
      await attempt(work);
    },
    /** Like `attempt`, but success proves that the server is reachable. */
    ask: async (question: () => Promise<void>): Promise<void> => {
      const isAnswered = await attempt(question);
      hasAnswered ||= isAnswered;
    },
    /** Returns the number of skipped parts. A part is skipped at a limit of the exporter itself, which is no error. */
    unasked: (): number => unasked.length,
    /** Reports whether an error is only about this round: the server is reachable, and accepts the credentials. */
    isOfRound: (error: unknown): boolean =>
      hasAnswered && error instanceof ApiError && error.kind !== 'unauthorized' && !signal.aborted,
    /** Returns the error of a server without any response in the round; undefined if it responded or was not asked. */
    silence: (): ApiError | undefined => (hasAnswered ? undefined : (all[0] ?? unasked[0])),
  };
}

export type RoundFaults = ReturnType<typeof createRoundFaults>;

/** Reports whether the service itself gave no response: a network error, for example, or a page of a proxy. */
function isSilence({ kind, details }: ApiError): boolean {
  return silentKinds.includes(kind) || (kind === 'server' && details.status !== 500 && details.status !== 501);
}

const silentKinds: readonly ErrorKind[] = ['network', 'tls', 'timeout', 'busy', 'html', 'redirect', 'empty'];
