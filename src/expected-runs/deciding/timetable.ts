/** The expected times of one job, as the server's answer had them. Times are the server's. */
export type Timetable = {
  /** Where it is from: a forecast of many times, or only the next run, which older servers tell. */
  readonly source: 'forecast' | 'next-run';
  readonly askedAtMs: number;
  /** The answer holds every time up to here. */
  readonly untilMs: number;
  /** Ascending: those before the answer are kept until they are decided. */
  readonly timesMs: readonly number[];
  /** Up to here an answer that was asked later has confirmed the times. */
  readonly confirmedMs: number;
  /** The times after this one, up to the answer, are not known: it was asked too late. */
  readonly gapAfterMs?: number;
};

export type Answer = Omit<Timetable, 'confirmedMs' | 'gapAfterMs'>;

export type Joined = {
  readonly timetable: Timetable;
  /** Times that the new answer puts in doubt: somebody has changed the schedule. */
  readonly withdrawnMs: readonly number[];
  /** True if the answer continues the times that are kept. */
  readonly isSame: boolean;
};

/**
 * Joins a new answer to the times that are kept. Where it does not continue them, those since the older answer are
 * withdrawn.
 */
export function joinAnswer(before: Timetable | undefined, told: Answer, { decidedMs, doubtMs }: JoinInput): Joined {
  // The member that answered may have another clock than the one that runs the job.
  const answer = { ...told, untilMs: told.untilMs - doubtMs };
  const { askedAtMs } = answer;
  const slackMs = leastSlackMs + doubtMs;
  // What fell into the time of the request may be in the answer or not.
  const confirmedMs = askedAtMs - slackMs;
  const coming = answer.timesMs.filter((time) => time > askedAtMs);
  if (before === undefined)
    return { timetable: { ...answer, timesMs: coming, confirmedMs }, withdrawnMs: [], isSame: false };
  const past = before.timesMs.filter((time) => time <= askedAtMs + slackMs);
  const isSame = continues(before, answer, slackMs);
  const sureMs = Math.max(before.confirmedMs, decidedMs);
  const kept = isSame ? past : past.filter((time) => time <= sureMs);
  const timesMs = [...new Set([...kept, ...coming])].sort((one, other) => one - other);
  const gapAfterMs = before.untilMs < askedAtMs ? before.untilMs : before.gapAfterMs;
  const isGapOpen = gapAfterMs !== undefined && timesMs.some((time) => time > decidedMs && time <= gapAfterMs);
  return {
    timetable: { ...answer, timesMs, confirmedMs, ...(isGapOpen ? { gapAfterMs } : {}) },
    isSame,
    withdrawnMs: isSame ? [] : past.filter((time) => time > sureMs && !timesMs.includes(time)),
  };
}

type JoinInput = {
  readonly decidedMs: number;
  /** By how much the clocks of the members of the server differ. */
  readonly doubtMs: number;
};

/** More than a request takes, and than clocks that are told in seconds are off. */
const leastSlackMs = 30_000;

/** Reports whether the times of two answers are those of one schedule. */
function continues(before: Timetable, answer: Answer, slackMs: number): boolean {
  const fromMs = answer.askedAtMs + slackMs;
  const untilMs = Math.min(before.untilMs, answer.untilMs);
  const expected = before.timesMs.filter((time) => time > fromMs && time <= untilMs);
  const told = answer.timesMs.filter((time) => time > fromMs && time <= untilMs);
  if (expected.length > 0 || told.length > 0) {
    return expected.length === told.length && expected.every((time, index) => time === told[index]);
  }
  // Both end before they meet, as after a long absence: only an even distance tells.
  const distanceMs = toEvenDistance(before.timesMs);
  const [first] = answer.timesMs;
  const last = before.timesMs.at(-1);
  if (first === undefined || last === undefined) return first === last;
  return distanceMs !== undefined && (first - last) % distanceMs === 0 && fits(answer.timesMs, distanceMs);
}

function fits(times: readonly number[], distanceMs: number): boolean {
  return times.length < 2 || toEvenDistance(times) === distanceMs;
}

/** The distance of all neighbours, if it is the same; undefined also for fewer than two times. */
function toEvenDistance([first, ...rest]: readonly number[]): number | undefined {
  let before = first;
  let distanceMs: number | undefined;
  for (const time of rest) {
    const own = time - (before ?? time);
    if (distanceMs !== undefined && own !== distanceMs) return undefined;
    distanceMs = own;
    before = time;
  }
  return distanceMs === 0 ? undefined : distanceMs;
}

/** A span of time, as a forecast is asked for it: one number and one unit. */
export type Horizon = { readonly time: string; readonly ms: number };

/** Before the density is known: as many times as are asked for come first. */
export const firstHorizon: Horizon = { time: '1y', ms: 365 * 86_400_000 };

/** The most times that are asked for at once. */
export const mostTimes = 500;

/** Chooses how far ahead to ask: far enough to ask rarely, and no further than the most times reach. */
export function chooseHorizon({
  timesMs,
  askedAtMs,
  untilMs,
}: Pick<Timetable, 'timesMs' | 'askedAtMs' | 'untilMs'>): Horizon {
  const coming = timesMs.filter((time) => time > askedAtMs);
  if (coming.length === 0) return firstHorizon;
  const spanMs = Math.max(untilMs, coming.at(-1) ?? 0) - askedAtMs;
  const distanceMs = spanMs / coming.length;
  const possible = horizons.filter(({ ms }) => ms / distanceMs <= mostTimes);
  return possible.find(({ ms }) => ms >= halfDayMs && ms / distanceMs >= fewTimes) ?? possible.at(-1) ?? shortest;
}

const shortest: Horizon = { time: '1h', ms: 3_600_000 };
const horizons: readonly Horizon[] = [
  shortest,
  { time: '3h', ms: 3 * 3_600_000 },
  { time: '6h', ms: 6 * 3_600_000 },
  { time: '12h', ms: 12 * 3_600_000 },
  { time: '1d', ms: 86_400_000 },
  { time: '1w', ms: 7 * 86_400_000 },
  { time: '2m', ms: 59 * 86_400_000 },
  firstHorizon,
];
const halfDayMs = 43_200_000;
/** A month is two times in two months, less a day. */
const fewTimes = 1.9;

/** Returns the time of the next question: when half of the answer's horizon is used, at the latest after six hours. */
export function toRefreshMs({ askedAtMs, untilMs, source }: Timetable): number {
  if (source === 'next-run') return untilMs + 1;
  return askedAtMs + Math.min((untilMs - askedAtMs) / 2, mostAgeMs);
}

const mostAgeMs = 6 * 3_600_000;

/** The times of a window ahead; beyond the answer its pattern is repeated. */
export function timesWithin(
  { timesMs, askedAtMs, untilMs }: Timetable,
  fromMs: number,
  toMs: number,
): readonly number[] {
  const times = timesMs.slice(placeAfter(timesMs, fromMs), placeAfter(timesMs, toMs));
  const periodMs = untilMs - askedAtMs;
  const first = placeAfter(timesMs, askedAtMs);
  if (toMs <= untilMs || periodMs <= 0 || timesMs.length - first < 2) return times;
  const afterMs = Math.max(fromMs, untilMs);
  // Earlier repetitions are over before the window begins.
  const firstShiftMs = Math.max(1, Math.floor((fromMs - untilMs) / periodMs)) * periodMs;
  for (let shiftMs = firstShiftMs; askedAtMs + shiftMs < toMs; shiftMs += periodMs) {
    const end = placeAfter(timesMs, toMs - shiftMs);
    for (let place = Math.max(first, placeAfter(timesMs, afterMs - shiftMs)); place < end; place++) {
      times.push((timesMs[place] ?? 0) + shiftMs);
    }
  }
  return times;
}

/** Finds the place of the first of ascending times that is after another one. */
function placeAfter(timesMs: readonly number[], atMs: number): number {
  let low = 0;
  let high = timesMs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timesMs[middle] ?? 0) > atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
