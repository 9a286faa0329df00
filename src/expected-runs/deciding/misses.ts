import type { Missed, Misses, Verdict } from './watched-job.ts';

/** Adds decided times to the misses of a job, and drops those of more than a week before. */
export function addMisses(
  before: readonly Misses[] | undefined,
  verdicts: readonly Verdict[],
  decidedMs: number,
): readonly Misses[] | undefined {
  const missed = verdicts.filter((verdict): verdict is Missed => verdict.is === 'missed');
  const [oldest] = before ?? [];
  const isOld = oldest !== undefined && (oldest.timesMs[0] ?? 0) < decidedMs - keptMs - dayMs;
  if (missed.length === 0 && !isOld) return before;
  const misses = [...(before ?? [])];
  for (const { reason, facts, expectedMs } of missed) {
    const last = misses.at(-1);
    // An earlier time that is decided later, after its answer, begins anew.
    const isMore = last?.reason === reason && (last.timesMs.at(-1) ?? 0) < expectedMs;
    if (isMore) misses[misses.length - 1] = { ...last, timesMs: [...last.timesMs, expectedMs] };
    else misses.push({ reason, facts, timesMs: [expectedMs] });
  }
  return toKept(misses, decidedMs - keptMs);
}

function toKept(misses: readonly Misses[], fromMs: number): readonly Misses[] {
  let room = maxTimes;
  const kept = misses.toReversed().flatMap((each): Misses[] => {
    const timesMs = each.timesMs.filter((time) => time >= fromMs).slice(-Math.max(room, 0));
    if (timesMs.length === 0 || room <= 0) return [];
    room -= timesMs.length;
    return [{ ...each, timesMs }];
  });
  return kept.reverse();
}

const dayMs = 86_400_000;
const keptMs = 7 * dayMs;
/** A day of a job that starts each minute. */
const maxTimes = 1500;
