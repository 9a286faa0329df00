import { ApiError } from '../api/errors.ts';

export type Faults = {
  /** Does a part of a round whose fault costs only itself; what spoils the rest as well is thrown. */
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
  readonly all: readonly ApiError[];
};

/** What goes wrong in a round. */
export function createFaults(signal: AbortSignal): Faults {
  const all: ApiError[] = [];
  return {
    all,
    attempt: async (work) => {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof ApiError) || signal.aborted) throw error;
        all.push(error);
        if (error.kind === 'unauthorized' || error.details.unsent === true) throw error;
      }
    },
  };
}
