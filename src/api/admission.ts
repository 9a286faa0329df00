import type { Clock } from '../domain/clock.ts';
import type { Breaker } from './breaker.ts';
import { type Budget, BudgetTimeout, type Lane } from './budget.ts';
import { notAsked } from './errors.ts';

/** On whose behalf and until when something is asked. */
export type Scope = {
  readonly lane: Lane;
  /** The time that each request may wait for its turn, and then the time for all its tries. */
  readonly forMs: number;
  /** When all requests of the scope have to be over; absent where nothing limits them together. */
  readonly untilTicks?: number | undefined;
  readonly signal: AbortSignal | undefined;
};

type AdmissionOptions = {
  readonly budget: Budget;
  readonly breaker: Breaker;
  readonly clock: Pick<Clock, 'ticks'>;
  readonly observe: { readonly waited: (seconds: number) => void };
};

/** Resolves to the function that gives the place back; throws an error that says why the request was not sent. */
export type Admission = (
  apiEndpoint: string,
  scope: Pick<Scope, 'lane' | 'signal'>,
  deadlineTicks: number,
) => Promise<() => void>;

/** The turn to send a request; from then on the breaker knows of it, so that no two are the probe. */
export function createAdmission({ budget, breaker, clock, observe }: AdmissionOptions): Admission {
  function refuseWhilePaused(apiEndpoint: string, deadlineTicks: number): void {
    const pausedMs = budget.pausedMs();
    if (pausedMs === 0 || clock.ticks() + pausedMs <= deadlineTicks) return;
    const seconds = Math.ceil(pausedMs / 1000);
    throw notAsked(apiEndpoint, 'busy', `the server asked for a pause of another ${seconds} s`);
  }

  function refuseWhileOpen(apiEndpoint: string, lane: Lane): void {
    const last = breaker.refusal(lane);
    if (last === undefined) return;
    throw notAsked(apiEndpoint, last.kind, `the server did not answer several times in a row; last: ${last.message}`);
  }

  return async (apiEndpoint, { lane, signal }, deadlineTicks) => {
    refuseWhileOpen(apiEndpoint, lane);
    const startedTicks = clock.ticks();
    refuseWhilePaused(apiEndpoint, deadlineTicks);
    if (startedTicks >= deadlineTicks)
      throw notAsked(apiEndpoint, 'timeout', 'its timeout had passed', { isOwnLimit: true });
    try {
      const leave = await budget.enter(lane, { deadlineTicks, signal });
      try {
        refuseWhileOpen(apiEndpoint, lane);
      } catch (error) {
        leave();
        throw error;
      }
      breaker.begin();
      return leave;
    } catch (error) {
      if (!(error instanceof BudgetTimeout)) throw error;
      // The server may have asked for it meanwhile.
      refuseWhilePaused(apiEndpoint, deadlineTicks);
      throw notAsked(apiEndpoint, 'timeout', 'the request budget was exhausted until its timeout', {
        isOwnLimit: true,
      });
    } finally {
      observe.waited((clock.ticks() - startedTicks) / 1000);
    }
  };
}
