import {
  type Answer,
  type Gap,
  minSlackMs,
  type Timetable,
  toLikely,
  toMostPerHour,
  type Unsure,
} from './timetable.ts';

type Joined = {
  readonly timetable: Timetable;
  /** Expected times that an edit of the schedule removed, because the new response lacks them. */
  readonly withdrawnMs: readonly number[];
  /** Whether the response agrees with the known times: `unknown` if their spans do not overlap. */
  readonly agreement: 'same' | 'edited' | 'unknown';
};

type JoinInput = {
  readonly decidedMs: number;
  /** By how much the clocks of the members differ. */
  readonly doubtMs: number;
};

/**
 * Merges a new response into the known times. Known times since the previous response are withdrawn if the response contradicts
 * them. They are unsure if the response has no span in common with them.
 */
export function joinAnswer(
  before: Timetable | undefined,
  { isAfterEdit = false, ...told }: Answer,
  { decidedMs, doubtMs }: JoinInput,
): Joined {
  const { askedAtMs } = told;
  const slackMs = minSlackMs + doubtMs;
  // The response may lack a start time that passed during the request.
  const sureSinceMs = askedAtMs - slackMs;
  const coming = told.timesMs.filter((time) => time > askedAtMs);
  // The member that responded and the member that runs the job may have different clocks.
  const untilMs = Math.max(told.untilMs - doubtMs, coming.at(-1) ?? Number.NEGATIVE_INFINITY);
  const answer = { ...told, untilMs, timesMs: coming };
  if (before === undefined)
    return {
      timetable: { ...answer, timesMs: told.timesMs, confirmedMs: sureSinceMs },
      withdrawnMs: [],
      agreement: 'unknown',
    };
  const past = before.timesMs.filter((time) => time <= askedAtMs + slackMs);
  const agreement = compare(before, answer, askedAtMs + slackMs);
  const sureMs = Math.max(before.confirmedMs, decidedMs);
  const kept = agreement === 'edited' ? past.filter((time) => time <= sureMs) : past;
  const isLonger = agreement === 'same' && !isAfterEdit && before.untilMs > untilMs;
  // Two different schedules may have the same next start.
  const isNextOnly = told.timesMs[0] === told.untilMs;
  const confirmedMs = isLonger && isNextOnly ? before.confirmedMs : sureSinceMs;
  const beyond = isLonger ? before.timesMs : [];
  const left = new Set([...kept, ...coming, ...beyond]);
  const timesMs = [...left].sort((one, other) => one - other);
  const gap = joinGap(before, askedAtMs);
  const withdrawnMs = past.filter((time) => !left.has(time));
  const [firstMs = before.withdrawnMs ?? Number.NEGATIVE_INFINITY] = withdrawnMs;
  const own = agreement === 'unknown' ? { afterMs: sureMs, throughMs: askedAtMs } : undefined;
  const unsure = joinUnsure(before.unsure, own, decidedMs);
  return {
    timetable: {
      ...answer,
      untilMs: isLonger ? before.untilMs : untilMs,
      timesMs,
      confirmedMs,
      ...(gap === undefined ? {} : { gap }),
      ...(unsure === undefined ? {} : { unsure }),
      ...(firstMs > decidedMs ? { withdrawnMs: firstMs } : {}),
    },
    agreement,
    withdrawnMs,
  };
}

/** Returns the span between two responses, joined with an earlier open gap. */
export function joinGap(before: Timetable, askedAtMs: number): Gap | undefined {
  const { gap: open, untilMs } = before;
  if (untilMs >= askedAtMs) return open;
  const likely = toLikely(before, untilMs, askedAtMs);
  if (open !== undefined) return { ...open, throughMs: askedAtMs, likely: [...open.likely, ...likely] };
  const maxPerHour = toMostPerHour(before);
  const gap = { afterMs: untilMs, throughMs: askedAtMs, askedAtMs: before.askedAtMs, likely };
  return maxPerHour === undefined ? gap : { ...gap, maxPerHour };
}

/** Joins two unsure spans. The time between the two spans is unsure too. */
export function joinUnsure(before: Unsure | undefined, own: Unsure | undefined, decidedMs: number): Unsure | undefined {
  const open = before !== undefined && before.throughMs > decidedMs ? before : undefined;
  if (own === undefined || open === undefined) return own ?? open;
  return { afterMs: Math.min(open.afterMs, own.afterMs), throughMs: Math.max(open.throughMs, own.throughMs) };
}

/**
 * Compares two responses in their common span. If neither has a time in the span, the responses agree, unless their regular
 * distances differ: then the agreement is unknown.
 */
function compare(before: Timetable, answer: Answer, fromMs: number): Joined['agreement'] {
  const untilMs = Math.min(before.untilMs, answer.untilMs);
  if (untilMs > fromMs) {
    if (!areSame(before.timesMs, answer.timesMs, fromMs, untilMs)) return 'edited';
    const isQuiet = !answer.timesMs.some((time) => time > fromMs && time <= untilMs);
    return isQuiet && isOutOfStep(before.timesMs, answer.timesMs) ? 'unknown' : 'same';
  }
  // A start that is due now may have passed by the clock of another member. So a missing start is no difference, but an
  // additional start is one.
  if (before.untilMs > fromMs) return answer.timesMs.every((time) => before.timesMs.includes(time)) ? 'same' : 'edited';
  // After a long absence, responses do not overlap, so only regular distances can be compared.
  const distanceMs = toEvenDistance(before.timesMs);
  const [first] = answer.timesMs;
  const last = before.timesMs.at(-1);
  if (first === undefined || last === undefined) return first === last ? 'same' : 'unknown';
  const isEven = distanceMs !== undefined && (first - last) % distanceMs === 0 && fits(answer.timesMs, distanceMs);
  return isEven ? 'same' : 'unknown';
}

function areSame(some: readonly number[], others: readonly number[], afterMs: number, throughMs: number): boolean {
  const own = some.filter((time) => time > afterMs && time <= throughMs);
  const told = others.filter((time) => time > afterMs && time <= throughMs);
  return own.length === told.length && own.every((time, index) => time === told[index]);
}

/** Reports whether start times break a regular distance. False if there is no start time to compare. */
function isOutOfStep(times: readonly number[], [first]: readonly number[]): boolean {
  const distanceMs = toEvenDistance(times);
  const last = times.at(-1);
  return distanceMs !== undefined && first !== undefined && last !== undefined && (first - last) % distanceMs !== 0;
}

function fits(times: readonly number[], distanceMs: number): boolean {
  return times.length < 2 || toEvenDistance(times) === distanceMs;
}

/** Returns the distance between neighbours if it is always the same. */
function toEvenDistance(times: readonly number[]): number | undefined {
  const [distanceMs, ...others] = new Set(times.slice(1).map((time, index) => time - (times[index] ?? 0)));
  return others.length === 0 ? distanceMs : undefined;
}
