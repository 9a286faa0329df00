import type { Clock } from '../domain/clock.ts';
import type { Lane } from './budget.ts';
import type { ApiError } from './errors.ts';

export type BreakerOptions = {
  readonly clock: Pick<Clock, 'ticks' | 'random'>;
  readonly onChange: (isOpen: boolean) => void;
};

export type Breaker = {
  /** Undefined where the request may be sent; else the fault that opened the circuit. A probe passes alone. */
  readonly refusal: (lane: Lane) => ApiError | undefined;
  /** Told before a request is sent and when it is over: without a fault, the server answered. */
  readonly begin: () => void;
  readonly end: (fault: ApiError | undefined) => void;
  /** Told instead of the end where whoever asked stopped waiting: that says nothing of the server. */
  readonly abandon: () => void;
};

const faultsToOpen = 5;
const firstOpenMs = 2000;
const longestOpenMs = 30_000;

/**
 * Spares a server that does not answer: after some faults in a row requests are refused at once, but for one probe at a
 * time. A vital poll may always be the probe, so that a server that is back is seen by its next poll; enrichment never
 * is.
 */
export function createBreaker({ clock, onChange }: BreakerOptions): Breaker {
  let faults = 0;
  let opened = 0;
  let last: ApiError | undefined;
  let probeAfterTicks = 0;
  let inFlight = 0;
  let isProbing = false;

  function close(): void {
    faults = 0;
    if (opened === 0) return;
    opened = 0;
    onChange(false);
  }

  function open(): void {
    opened += 1;
    // Half of the time is random: many exporters must not come back to a server in the same moment.
    const openMs = Math.min(longestOpenMs, firstOpenMs * 2 ** (opened - 1));
    probeAfterTicks = clock.ticks() + openMs * (0.5 + clock.random() / 2);
    if (opened === 1) onChange(true);
  }

  return {
    refusal: (lane) => {
      if (opened === 0 || last === undefined) return undefined;
      // Enrichment can wait for others to find the server back: as the probe it would be in the way of a vital poll.
      const mayTry = lane === 'vital' || (lane === 'normal' && clock.ticks() >= probeAfterTicks);
      const mayProbe = inFlight === 0 && mayTry;
      return mayProbe ? undefined : last;
    },
    begin: () => {
      inFlight += 1;
      isProbing = opened > 0;
    },
    end: (fault) => {
      inFlight -= 1;
      if (fault === undefined || !isOutage(fault)) {
        close();
        return;
      }
      faults += 1;
      last = fault;
      // Requests that were under way when the circuit opened say nothing new.
      if (opened > 0 ? isProbing : faults >= faultsToOpen) open();
      isProbing = false;
    },
    abandon: () => {
      inFlight -= 1;
      isProbing = false;
    },
  };
}

/** Whether the fault says that the server as a whole does not answer; a fault of one endpoint is none. */
function isOutage({ kind, details }: ApiError): boolean {
  if (kind === 'server') return details.status === 502 || details.status === 503 || details.status === 504;
  return kind === 'network' || kind === 'tls' || kind === 'timeout';
}
