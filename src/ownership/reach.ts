import type { Clock } from '../domain/clock.ts';
import type { OwnershipObserver } from './ownership.ts';
import type { TenuresOptions } from './tenures.ts';

type Reach = {
  /** Asks the database, and reports whether it answered. */
  readonly reach: TenuresOptions['reach'];
  /** Reports a database that takes long: it may take much longer until a request is given up. */
  readonly check: () => void;
};

export function createReach({ reached }: Pick<OwnershipObserver, 'reached'>, { ticks }: Pick<Clock, 'ticks'>): Reach {
  const pending = new Set<{ readonly sinceTicks: number }>();
  return {
    reach: async (work) => {
      const asked = { sinceTicks: ticks() };
      pending.add(asked);
      try {
        const answer = await work();
        reached(true);
        return answer;
      } catch (error) {
        reached(false, error);
        return undefined;
      } finally {
        pending.delete(asked);
      }
    },
    check: () => {
      const isLate = [...pending].some(({ sinceTicks }) => ticks() - sinceTicks >= lateMs);
      if (isLate) reached(false, new Error(`the database has not answered for ${lateMs / 1000} s`));
    },
  };
}

const lateMs = 5000;
