import type { Cancel, Clock } from '../domain/clock.ts';
import type { Lease, Leases } from '../state/shared-state.ts';
import { leaseMs, renewEveryMs, type Tenure, toActingMs } from './tenure.ts';

export type TenuresOptions = {
  readonly leases: Pick<Leases, 'renew'>;
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
  /** Calls the database and returns its response; undefined without a response. */
  readonly reach: <Answer>(work: () => Promise<Answer>) => Promise<Answer | undefined>;
  /** Called when a lease ends without a release. */
  readonly onEnd: (unit: string, reason: 'taken' | 'unrenewed') => void;
};

type Held = Tenure & { cancels: Cancel[] };

/** Renews the leases of this replica. If renewing fails, ends the leases in time. */
export function createTenures({ leases, clock, reach, onEnd }: TenuresOptions) {
  const held = new Map<string, Held>();

  function hold(unit: string, tenure: Tenure): void {
    cancel(unit);
    const { epoch } = tenure;
    const cancels = [
      clock.after(toActingMs(tenure, clock.ticks()), () => onEnd(unit, 'unrenewed')),
      clock.after(renewEveryMs, () => void renew(unit, epoch)),
    ];
    held.set(unit, { ...tenure, cancels });
  }

  function cancel(unit: string): void {
    for (const each of held.get(unit)?.cancels ?? []) each();
  }

  async function renew(unit: string, epoch: number): Promise<void> {
    const sentTicks = clock.ticks();
    const isOurs = await reach(() => leases.renew(unit, epoch, leaseMs));
    // A late response does not renew the lease.
    check();
    const tenure = held.get(unit);
    if (tenure?.epoch !== epoch) return;
    if (isOurs === undefined) tenure.cancels.push(clock.after(renewEveryMs / 3, () => void renew(unit, epoch)));
    else if (isOurs) hold(unit, { epoch, acknowledgedTicks: sentTicks });
    else onEnd(unit, 'taken');
  }

  /** Ends leases that may have expired, because timers are late after the process was suspended. */
  function check(): void {
    for (const [unit, tenure] of held) if (toActingMs(tenure, clock.ticks()) <= 0) onEnd(unit, 'unrenewed');
  }

  return {
    begin: (unit: string, { epoch }: Lease, sentTicks: number) => hold(unit, { epoch, acknowledgedTicks: sentTicks }),
    /** Ends a lease, if it has the given epoch. Returns the epoch of the lease; undefined without a lease. */
    end: (unit: string, only?: number) => {
      const epoch = held.get(unit)?.epoch;
      if (epoch === undefined || (only !== undefined && only !== epoch)) return undefined;
      cancel(unit);
      held.delete(unit);
      return epoch;
    },
    check,
    epochs: () => new Map([...held].map(([unit, { epoch }]) => [unit, epoch])),
  };
}

export type Tenures = ReturnType<typeof createTenures>;

export type ReachObserver = {
  /** Called after each request to the database with whether it responded. */
  readonly reached: (isReached: boolean, error?: unknown) => void;
};

type Reach = {
  /** Sends a request to the database, and reports whether it responded. */
  reach: TenuresOptions['reach'];
  /** Reports a slow database before the request times out. */
  check: () => void;
};

export function createReach({ reached }: ReachObserver, { ticks }: Pick<Clock, 'ticks'>): Reach {
  const pending = new Set<{ sinceTicks: number }>();
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
      if (isLate) reached(false, new Error(`the database has not responded for ${lateMs / 1000} s`));
    },
  };
}

const lateMs = 5000;
