import type { Clock } from '../domain/clock.ts';
import type { Lane } from './budget.ts';
import type { ApiError } from './errors.ts';

type BreakerOptions = {
  readonly clock: Pick<Clock, 'ticks' | 'random'>;
  readonly onChange: (isOpen: boolean) => void;
  /** The state of the breaker of this address before a reload. */
  readonly memory?: BreakerMemory | undefined;
};

/** The errors of an address, as data that is kept when the breaker is replaced. */
export type BreakerMemory = {
  faults: number;
  /** How many times the circuit has opened since the last response of the server. */
  opened: number;
  /** A refusal is a plain object: the stack of an Error would keep the caller in memory. */
  last: Refusal | undefined;
  probeAfterTicks: number;
};

type Refusal = Pick<ApiError, 'kind' | 'message'>;

export function createBreakerMemory(): BreakerMemory {
  return { faults: 0, opened: 0, last: undefined, probeAfterTicks: 0 };
}

const faultsToOpen = 5;
const firstOpenMs = 2000;
const maxOpenMs = 30_000;

/**
 * Protects a server that does not respond. After several consecutive errors, requests fail immediately, except one probe at a time.
 * Vital polls may always send a probe, so that they notice the recovery. Enrichment may never send one.
 */
export function createBreaker({ clock, onChange, memory = createBreakerMemory() }: BreakerOptions) {
  let inFlight = 0;
  let isProbing = false;

  function close(): void {
    memory.faults = 0;
    if (memory.opened === 0) return;
    memory.opened = 0;
    onChange(false);
  }

  function open(): void {
    memory.opened += 1;
    // Half of the open time is random, so that exporters do not return to a server together.
    const openMs = Math.min(maxOpenMs, firstOpenMs * 2 ** (memory.opened - 1));
    memory.probeAfterTicks = clock.ticks() + openMs * (0.5 + clock.random() / 2);
    if (memory.opened === 1) onChange(true);
  }

  return {
    /** Returns undefined if the request may be sent, otherwise the error that opened the circuit. Permits one probe at a time. */
    refusal: (lane: Lane) => {
      if (memory.opened === 0 || memory.last === undefined) return undefined;
      // A probe of enrichment would delay a vital poll.
      const mayTry = lane === 'vital' || (lane === 'normal' && clock.ticks() >= memory.probeAfterTicks);
      const mayProbe = inFlight === 0 && mayTry;
      return mayProbe ? undefined : memory.last;
    },
    /** Call before a request is sent, and call `end` after it. `end` without an error means that the server responded. */
    begin: () => {
      inFlight += 1;
      isProbing = memory.opened > 0;
    },
    end: (fault: ApiError | undefined) => {
      inFlight -= 1;
      if (fault === undefined || !isOutage(fault)) {
        close();
        return;
      }
      memory.faults += 1;
      memory.last = { kind: fault.kind, message: fault.message };
      // Requests that were in progress when the circuit opened do not count.
      if (memory.opened > 0 ? isProbing : memory.faults >= faultsToOpen) open();
      isProbing = false;
    },
    /** Call instead of `end` if the caller stopped waiting, which is not an error of the server. */
    abandon: () => {
      inFlight -= 1;
      isProbing = false;
    },
  };
}

export type Breaker = ReturnType<typeof createBreaker>;

/** Reports whether an error means that the whole server does not respond, not only one endpoint. */
function isOutage({ kind, details }: ApiError): boolean {
  if (kind === 'server') return details.status === 502 || details.status === 503 || details.status === 504;
  return kind === 'network' || kind === 'tls' || kind === 'timeout';
}
