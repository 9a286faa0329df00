import type { Cancel, Clock } from '../domain/clock.ts';

/** The lanes in their order: vital polls, then the share of enrichment, then everything else. */
export const lanes = ['vital', 'normal', 'enrichment'] as const;
export type Lane = (typeof lanes)[number];

export type BudgetOptions = {
  readonly requestsPerSecond: number;
  readonly concurrency: number;
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
  /** The state of the previous budget for the same address, before a reload. */
  readonly memory?: BudgetMemory | undefined;
};

/** Which requests have started lately, and a pause that the server asked for: data that outlives a budget. */
export type BudgetMemory = {
  readonly recent: { readonly atTicks: number; readonly lane: Lane }[];
  readonly started: Record<Lane, number>;
  pausedUntilTicks: number;
};

export function createBudgetMemory(): BudgetMemory {
  const started = { vital: 0, normal: 0, enrichment: 0 };
  return { recent: [], started, pausedUntilTicks: Number.NEGATIVE_INFINITY };
}

export type Budget = {
  /** Resolves to the function that gives the place back; rejects with a `BudgetTimeout` at the deadline or the signal's end. */
  readonly enter: (lane: Lane, limit: AdmissionLimit) => Promise<() => void>;
  /** Admits no request for as long as the server asked. */
  readonly pause: (forMs: number) => void;
  /** The time left of such a pause. */
  readonly pausedMs: () => number;
  readonly inFlight: () => number;
};

/** How long a request may wait for its turn. */
type AdmissionLimit = { deadlineTicks: number; signal: AbortSignal | undefined };

type Waiting = { admit: () => void };

/**
 * Requests to one server, bounded in rate and number. In any window of a second no more start than are allowed; the last
 * place of the rate and of the concurrency is kept for vital polls, so that these never wait behind a sweep.
 */
export function createBudget(options: BudgetOptions): Budget {
  const { requestsPerSecond, concurrency, clock, memory = createBudgetMemory() } = options;
  const { recent, started } = memory;
  const starts = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = (starts / requestsPerSecond) * 1000;
  const inFlight: Record<Lane, number> = { vital: 0, normal: 0, enrichment: 0 };
  const waiting: Readonly<Record<Lane, Waiting[]>> = { vital: [], normal: [], enrichment: [] };
  let cancelWakeUp: Cancel | undefined;

  function admitAll(): void {
    const nowTicks = clock.ticks();
    for (let [first] = recent; first !== undefined && first.atTicks + windowMs <= nowTicks; [first] = recent) {
      recent.shift();
      started[first.lane] -= 1;
    }
    if (nowTicks >= memory.pausedUntilTicks) {
      for (let lane = findLane(); lane !== undefined; lane = findLane()) {
        const next = waiting[lane].shift();
        recent.push({ atTicks: nowTicks, lane });
        started[lane] += 1;
        inFlight[lane] += 1;
        next?.admit();
      }
    }
    wakeUp(nowTicks);
  }

  /** Finds the lane whose turn it is: the first in order with a waiting request and room. */
  function findLane(): Lane | undefined {
    return admissionOrder.find(
      (lane) => waiting[lane].length > 0 && hasRoom(lane, started, starts) && hasRoom(lane, inFlight, concurrency),
    );
  }

  /** Places come free by themselves; the rate and a pause have to be waited for. */
  function wakeUp(nowTicks: number): void {
    cancelWakeUp?.();
    cancelWakeUp = undefined;
    if (lanes.every((lane) => waiting[lane].length === 0)) return;
    const rateTicks = recent[0] === undefined ? nowTicks : recent[0].atTicks + windowMs;
    const atTicks = Math.max(rateTicks, memory.pausedUntilTicks);
    if (atTicks > nowTicks) cancelWakeUp = clock.after(Math.ceil(atTicks - nowTicks), admitAll);
  }

  function leave(lane: Lane): void {
    inFlight[lane] -= 1;
    admitAll();
  }

  return {
    enter: (lane, limit) => {
      const line = waiting[lane];
      return waitForAdmission(clock, limit, {
        join: (entry) => {
          line.push(entry);
          admitAll();
        },
        quit: (entry) => {
          line.splice(line.indexOf(entry), 1);
          wakeUp(clock.ticks());
        },
        leave: () => leave(lane),
      });
    },
    pause: (forMs) => {
      memory.pausedUntilTicks = Math.max(memory.pausedUntilTicks, clock.ticks() + forMs);
      admitAll();
    },
    pausedMs: () => Math.max(0, memory.pausedUntilTicks - clock.ticks()),
    inFlight: () => inFlight.vital + inFlight.normal + inFlight.enrichment,
  };
}

type Line = {
  join: (entry: Waiting) => void;
  quit: (entry: Waiting) => void;
  /** Gives back the place of a request that was admitted. */
  leave: () => void;
};

/** Waits in a line until a request is admitted, its deadline passes or its signal ends. */
function waitForAdmission(
  clock: BudgetOptions['clock'],
  { deadlineTicks, signal }: AdmissionLimit,
  { join, quit, leave }: Line,
): Promise<() => void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(new BudgetTimeout());
      return;
    }
    let cancelLimit: Cancel | undefined = undefined;
    const stopWaiting = (): void => {
      cancelLimit?.();
      signal?.removeEventListener('abort', giveUp);
    };
    let isAdmitted = false;
    const entry: Waiting = {
      admit: () => {
        isAdmitted = true;
        stopWaiting();
        let isHeld = true;
        resolve(() => {
          if (isHeld) leave();
          isHeld = false;
        });
      },
    };
    const giveUp = (): void => {
      stopWaiting();
      quit(entry);
      reject(new BudgetTimeout());
    };
    join(entry);
    // Most are admitted at once and need neither a timer nor a listener.
    if (isAdmitted) return;
    cancelLimit = clock.after(Math.max(0, deadlineTicks - clock.ticks()), giveUp);
    signal?.addEventListener('abort', giveUp);
  });
}

/** The turn did not come before the deadline. */
export class BudgetTimeout extends Error {
  override readonly name = 'BudgetTimeout';
}

const admissionOrder: readonly Lane[] = ['vital', 'enrichment', 'normal'];

/**
 * Reports whether a lane has room: enrichment has a third at most, all except the vital lane leave one place free, and none
 * exceeds the whole.
 */
function hasRoom(lane: Lane, { vital, normal, enrichment }: Readonly<Record<Lane, number>>, whole: number): boolean {
  if (lane === 'enrichment' && enrichment >= Math.max(1, Math.floor(whole / 3))) return false;
  if (lane !== 'vital' && normal + enrichment >= Math.max(1, whole - 1)) return false;
  return vital + normal + enrichment < whole;
}
