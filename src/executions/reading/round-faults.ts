import { ApiError, type ErrorKind } from '../../api/errors.ts';

export type RoundFaults = {
  /** Does a part of a round whose fault costs only itself; what spoils the rest as well is thrown. */
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
  /** The same for what asks the server in any case: where it goes well, the server is there. */
  readonly ask: (question: () => Promise<void>) => Promise<void>;
  readonly all: readonly ApiError[];
  /** Parts that our own limits left no time for: no fault of anybody. */
  readonly unasked: () => number;
  /** Reports whether a fault that ended the round is of the round only: the server is reachable and accepts the credentials. */
  readonly isOfRound: (error: unknown) => boolean;
  /** Returns the fault that kept the server from answering even once; undefined if it answered, or was not asked. */
  readonly silence: () => ApiError | undefined;
};

/** Collects the faults of a round. */
export function createRoundFaults(signal: AbortSignal): RoundFaults {
  const all: ApiError[] = [];
  const unasked: ApiError[] = [];
  let hasAnswered = false;

  /** Refused credentials, a server that is left alone, or one that did not answer twice before it answered at all. */
  function spoilsTheRest({ kind, details }: ApiError): boolean {
    if (kind === 'unauthorized') return true;
    // A request that was not sent is not a fault of the server.
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
