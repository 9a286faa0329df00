import { ApiError, type ErrorKind } from '../../api/errors.ts';

export type RoundFaults = {
  /** Runs one part of a round and records its error. Rethrows errors that make the rest pointless. */
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
  /** Like `attempt`, for a part that always sends requests: if it succeeds, the server is there. */
  readonly ask: (question: () => Promise<void>) => Promise<void>;
  readonly all: readonly ApiError[];
  /** Returns the number of parts that the exporter's own limits left no time for; these are not errors. */
  readonly unasked: () => number;
  /** Reports whether an error affects this round only: the server is reachable and accepts the credentials. */
  readonly isOfRound: (error: unknown) => boolean;
  /** Returns the error because of which the server never answered; undefined if it answered, or was not asked. */
  readonly silence: () => ApiError | undefined;
};

export function createRoundFaults(signal: AbortSignal): RoundFaults {
  const all: ApiError[] = [];
  const unasked: ApiError[] = [];
  let hasAnswered = false;

  /** The credentials are refused, the server is being left alone, or its first two requests got no answer. */
  function spoilsTheRest({ kind, details }: ApiError): boolean {
    if (kind === 'unauthorized') return true;
    // A request that was not sent is not the server's fault.
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
    attempt: async (work) => {
      await attempt(work);
    },
    ask: async (question) => {
      const isAnswered = await attempt(question);
      hasAnswered ||= isAnswered;
    },
    unasked: () => unasked.length,
    isOfRound: (error) => hasAnswered && error instanceof ApiError && error.kind !== 'unauthorized' && !signal.aborted,
    silence: () => (hasAnswered ? undefined : (all[0] ?? unasked[0])),
  };
}

/** Reports whether nothing that speaks for the service has answered. */
function isSilence({ kind, details }: ApiError): boolean {
  return silentKinds.includes(kind) || (kind === 'server' && details.status !== 500 && details.status !== 501);
}

const silentKinds: readonly ErrorKind[] = ['network', 'tls', 'timeout', 'busy', 'html', 'redirect', 'empty'];
