import { ApiError, type ErrorKind } from '../api/errors.ts';

export type Faults = {
  /** Does a part of a round whose fault costs only itself; what spoils the rest as well is thrown. */
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
  readonly all: readonly ApiError[];
};

/** What goes wrong in a round. */
export function createFaults(signal: AbortSignal): Faults {
  const all: ApiError[] = [];
  let hasWorked = false;

  /** Refused credentials, a server that is left alone, or one that did not answer twice before it answered at all. */
  function spoilsTheRest({ kind, details }: ApiError): boolean {
    if (kind === 'unauthorized') return true;
    // What could not even be asked says nothing of the server.
    if (details.unsent === true) return kind !== 'rejected';
    return !hasWorked && all.filter(isSilence).length > 1;
  }

  return {
    all,
    attempt: async (work) => {
      try {
        await work();
        hasWorked = true;
      } catch (error) {
        if (!(error instanceof ApiError) || signal.aborted) throw error;
        all.push(error);
        if (spoilsTheRest(error)) throw error;
      }
    },
  };
}

/** Whether nothing that speaks for the service has answered. */
function isSilence({ kind, details }: ApiError): boolean {
  return silentKinds.includes(kind) || (kind === 'server' && details.status !== 500 && details.status !== 501);
}

const silentKinds: readonly ErrorKind[] = ['network', 'tls', 'timeout', 'busy', 'html', 'redirect', 'empty'];
