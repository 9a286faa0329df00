import type { Cancel, Clock } from '../domain/clock.ts';

/** The lanes of requests, the most important first. */
export const lanes = ['vital', 'normal', 'enrichment'] as const;
export type Lane = (typeof lanes)[number];

type BudgetOptions = {
  readonly requestsPerSecond: number;
  readonly concurrency: number;
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
  /** The state of the budget of this address before a reload. */
  readonly memory?: BudgetMemory | undefined;
};

/** The starts of recent requests and the requested pause, which a new budget takes over. */
export type BudgetMemory = {
  readonly recent: { readonly atTicks: number; readonly lane: Lane }[];
  readonly started: Record<Lane, number>;
  pausedUntilTicks: number;
  /** The status of the response that requested the longest pause. */
  pausedBy?: number | undefined;
};

export function createBudgetMemory(): BudgetMemory {
  const started = { vital: 0, normal: 0, enrichment: 0 };
  return { recent: [], started, pausedUntilTicks: Number.NEGATIVE_INFINITY };
}

export type Budget = ReturnType<typeof createBudget>;

/** How long a request may wait for admission. */
type AdmissionLimit = { deadlineTicks: number; signal: AbortSignal | undefined };

type Waiting = { admit: () => void };

/**
 * Limits the rate and the concurrency of requests to one server. The last place among the concurrent requests is for vital
 * polls, not for sweeps.
 */
export function createBudget(options: BudgetOptions) {
  const { requestsPerSecond, concurrency, clock, memory = createBudgetMemory() } = options;
  const { recent, started } = memory;
  const starts = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = (starts / requestsPerSecond) * 1000;
  const inFlight: Record<Lane, number> = { vital: 0, normal: 0, enrichment: 0 };
  const waiting: Readonly<Record<Lane, Waiting[]>> = { vital: [], normal: [], enrichment: [] };
  let cancelWakeUp: Cancel | undefined;
  let normalInARow = 0;

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
        if (lane !== 'vital') normalInARow = lane === 'normal' ? normalInARow + 1 : 0;
        next?.admit();
      }
    }
    wakeUp(nowTicks);
  }

  function findLane(): Lane | undefined {
    // If a window allows fewer than three starts, enrichment precedes the normal lane only after two starts of the normal lane.
    const isItsTurn = starts >= 3 || normalInARow >= 2;
    return (isItsTurn ? admissionOrder : lanes).find(
      (lane) => waiting[lane].length > 0 && hasRoom(lane, started, starts) && hasRoom(lane, inFlight, concurrency),
    );
  }

  /** Sets a timer for a pause or the rate. Concurrency needs no timer: a request that ends admits the next request. */
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
    /** Resolves to a function to call after the request. Rejects with a `BudgetTimeout` at the deadline or on abort. */
    enter: (lane: Lane, limit: AdmissionLimit): Promise<() => void> => {
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
    /** Admits no request during a pause that the server requested. */
    pause: (forMs: number, status?: number): void => {
      if (clock.ticks() + forMs > memory.pausedUntilTicks) memory.pausedBy = status;
      memory.pausedUntilTicks = Math.max(memory.pausedUntilTicks, clock.ticks() + forMs);
      admitAll();
    },
    pausedBy: () => memory.pausedBy,
    pausedMs: (): number => Math.max(0, memory.pausedUntilTicks - clock.ticks()),
    inFlight: (): number => inFlight.vital + inFlight.normal + inFlight.enrichment,
  };
}

type Line = { join: (entry: Waiting) => void; quit: (entry: Waiting) => void; leave: () => void };

/** Waits until a request is admitted, its deadline passes or its signal aborts. */
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
    // Most requests are admitted immediately, without a timer or a listener.
    if (isAdmitted) return;
    cancelLimit = clock.after(Math.max(0, deadlineTicks - clock.ticks()), giveUp);
    signal?.addEventListener('abort', giveUp);
  });
}

export class BudgetTimeout extends Error {
  override readonly name = 'BudgetTimeout';
}

const admissionOrder: readonly Lane[] = ['vital', 'enrichment', 'normal'];

/** Reports whether a lane may start a request. The last place is for vital polls; enrichment gets a third at most. */
function hasRoom(lane: Lane, { vital, normal, enrichment }: Readonly<Record<Lane, number>>, whole: number): boolean {
  if (lane === 'enrichment' && enrichment >= Math.max(1, Math.floor(whole / 3))) return false;
  if (lane !== 'vital' && normal + enrichment >= Math.max(1, whole - 1)) return false;
  return vital + normal + enrichment < whole;
}
