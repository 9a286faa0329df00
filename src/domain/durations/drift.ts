/** The last successful runs of a job (about 1 kB), to find lasting changes of their durations. */
export type Drift<List = Uint16Array | Uint32Array> = {
  /** The last durations in tenths of a second, oldest first. */
  readonly tenths: List;
  /** The minutes between consecutive ends. */
  readonly apart: List;
  readonly lastMinute: number;
  /** The cumulative sums for longer and for shorter runs. */
  readonly up: number;
  readonly down: number;
  readonly rhythm: Rhythm;
  readonly shift?: Shift;
};

type Lists = Drift<readonly number[]>;

/** Stores numbers in two or four bytes each in memory, where a list needs eight. The stored state has lists. */
export function toCompact({ tenths, apart, ...drift }: Drift<ArrayLike<number>>): Drift {
  return { ...drift, tenths: toNumbers(tenths), apart: toNumbers(apart) };
}

function toNumbers(numbers: ArrayLike<number>): Uint16Array | Uint32Array {
  const list = toList(numbers);
  const compact = list.every((value) => value <= maxShort) ? new Short(list.length) : new Long(list.length);
  compact.set(list);
  return compact;
}

/** Copies an array to a list; iterating over a typed array would be slow. */
function toList(numbers: ArrayLike<number>): number[] {
  const list: number[] = [];
  while (list.length < numbers.length) list.push(numbers[list.length] ?? 0);
  return list;
}

const maxShort = 2 ** 16 - 1;
/** The maximum of a long number: 13 years, in tenths of a second. */
const maxLong = 2 ** 32 - 1;

class Short extends Uint16Array {
  toJSON(): readonly number[] {
    return toList(this);
  }
}

class Long extends Uint32Array {
  toJSON(): readonly number[] {
    return toList(this);
  }
}

/** Which runs are compared with each other: all; those of weekends and of other days; or those of one weekday and of the others. */
type Rhythm = 'none' | 'weekend' | number;

/** A lasting change of a job's durations. */
export type Shift = {
  /** The end of the first changed run. */
  readonly sinceMs: number;
  /** The end of the last run before the change; absent in states of earlier releases. */
  readonly usualUntilMs?: number;
  readonly beforeMs: number;
  readonly afterMs: number;
};

export function toShiftRatio({ beforeMs, afterMs }: Shift): number {
  // The divisor is at least 100 ms, because the shortest durations are kept as 0.
  return afterMs / Math.max(beforeMs, 100);
}

/** Adds a successful run. A run that ended before the last run is inserted, and compared only with later runs. */
export function addDuration(before: Drift | undefined, durationMs: number, endedAtMs: number): Drift {
  const lastMinute = Math.floor(endedAtMs / minuteMs);
  if (before !== undefined && lastMinute < before.lastMinute) return insertLate(before, durationMs, lastMinute);
  const known: Lists = before
    ? { ...before, tenths: toList(before.tenths), apart: toList(before.apart) }
    : { tenths: [], apart: [], lastMinute, up: 0, down: 0, rhythm: 'none' };
  const tenths = [...known.tenths, toTenths(durationMs)].slice(-maxRuns);
  const apart = [...known.apart, lastMinute - known.lastMinute].slice(-maxRuns);
  const isOver = known.shift !== undefined && endedAtMs - known.shift.sinceMs > newNormalMs;
  const drift = { ...(isOver ? withoutShift(known) : known), tenths, apart, lastMinute };
  const isNewWeek = toWeek(lastMinute) !== toWeek(known.lastMinute);
  return toCompact(tenths.length < fewRuns ? drift : addToSums(drift, isNewWeek));
}

function toTenths(durationMs: number): number {
  return Math.min(Math.round(durationMs / 100), maxLong);
}

/** Inserts a run. Ignores a run that ended before all stored runs, because the durations may have changed since. */
function insertLate(before: Drift, durationMs: number, endMinute: number): Drift {
  const [tenths, apart] = [toList(before.tenths), toList(before.apart)];
  const ends = toEnds({ ...before, tenths, apart });
  const place = ends.findIndex((end) => end > endMinute);
  if (place < 1) return before;
  tenths.splice(place, 0, toTenths(durationMs));
  const passed = endMinute - (ends[place - 1] ?? 0);
  apart.splice(place, 1, passed, (apart[place] ?? 0) - passed);
  return toCompact({ ...before, tenths: tenths.slice(-maxRuns), apart: apart.slice(-maxRuns) });
}

const minuteMs = 60_000;
const maxRuns = 200;
const fewRuns = 20;
const newNormalMs = 14 * 86_400_000;

function withoutShift<List>({ shift: _shift, ...drift }: Drift<List>): Drift<List> {
  return drift;
}

function toEnds({ apart, lastMinute }: Lists): readonly number[] {
  const ends: number[] = [];
  let minute = lastMinute;
  for (const each of apart.toReversed()) {
    ends.push(minute);
    minute -= each;
  }
  return ends.reverse();
}

/** Adds the last run to the sums. Looks for a weekly rhythm once a week, because the rhythm seldom changes. */
function addToSums(before: Lists, isNewWeek: boolean): Lists {
  const known = isNewWeek ? { ...before, rhythm: findRhythm(before) } : before;
  const places = findPlaces(known);
  if (places.length < fewRuns) return known;
  const z = toScore(places.map((place) => known.tenths[place] ?? 0));
  const up = Math.max(0, known.up + z - slack);
  const down = Math.max(0, known.down - z - slack);
  if (up < limit && down < limit) return { ...known, up, down };
  return noteAlarm({ ...known, up: Math.min(up, limit), down: Math.min(down, limit) }, places);
}

/** Returns the indexes of the runs with which the last run is compared. */
function findPlaces(drift: Lists): readonly number[] {
  const all = [...drift.tenths.keys()];
  if (drift.rhythm === 'none') return all;
  const groups = toEnds(drift).map((minute) => toGroup(minute, drift.rhythm));
  return all.filter((place) => groups[place] === groups.at(-1));
}

const slack = 0.5;
const limit = 7.5;

/** Removes the runs before a change if the change is large enough. A smaller change is compared again after each run. */
function noteAlarm(drift: Lists, places: readonly number[]): Lists {
  const { tenths, apart, shift: known } = drift;
  const own = places.map((place) => tenths[place] ?? 0);
  const begin = findBegin(own);
  const beforeMs = toMedian(own.slice(0, begin)) * 100;
  const afterMs = toMedian(own.slice(begin)) * 100;
  if (!isLarge(beforeMs, afterMs)) return drift;
  const first = places[begin] ?? 0;
  const left = { ...withoutShift(drift), up: 0, down: 0, tenths: tenths.slice(first), apart: apart.slice(first) };
  // After several changes, the usual duration is the duration before the first change.
  const usualMs = known?.beforeMs ?? beforeMs;
  if (!isLarge(usualMs, afterMs)) return left;
  const ends = toEnds(drift);
  const times = known ?? { sinceMs: (ends[first] ?? 0) * minuteMs, usualUntilMs: (ends[first - 1] ?? 0) * minuteMs };
  return { ...left, shift: { ...times, beforeMs: usualMs, afterMs } };
}

function isLarge(beforeMs: number, afterMs: number): boolean {
  const [less, more] = beforeMs < afterMs ? [beforeMs, afterMs] : [afterMs, beforeMs];
  return more >= minRatio * less && more - less >= minMs;
}

const minRatio = 1.3;
const minMs = 10_000;

/** Returns the normal score of the last duration, by its rank among all. */
function toScore(durationsMs: readonly number[]): number {
  const last = durationsMs.at(-1) ?? 0;
  let less = 0;
  let equal = 0;
  for (const each of durationsMs) {
    if (each < last) less += 1;
    else if (each === last) equal += 1;
  }
  const rank = less + (equal + 1) / 2;
  return Math.max(-maxScore, Math.min(maxScore, toNormalQuantile((rank - 0.5) / durationsMs.length)));
}

const maxScore = 2.5;

/** Returns the index at which the rank sums of the two parts differ most. */
function findBegin(durationsMs: readonly number[]): number {
  const ranks = toRanks(durationsMs);
  const { length } = ranks;
  const middle = (length + 1) / 2;
  let sum = 0;
  let [best, begin] = [0, length - 1];
  for (let place = 1; place < length; place += 1) {
    sum += (ranks[place - 1] ?? 0) - middle;
    const difference = Math.abs(sum) / Math.sqrt(place * (length - place));
    if (difference > best) [best, begin] = [difference, place];
  }
  return begin;
}

function toRanks(values: readonly number[]): readonly number[] {
  const order = values.map((_, place) => place).sort((one, other) => (values[one] ?? 0) - (values[other] ?? 0));
  const ranks: number[] = Array.from({ length: values.length }, () => 0);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to + 1 < order.length && values[order[to + 1] ?? 0] === values[order[from] ?? 0]) to += 1;
    for (let place = from; place <= to; place += 1) ranks[order[place] ?? 0] = (from + to) / 2 + 1;
    from = to + 1;
  }
  return ranks;
}

function toMedian(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? high) + high) / 2;
}

function toWeek(minute: number): number {
  return Math.floor(minute / (7 * 1440));
}

/** Returns the weekday, Monday as 0. The first day of the epoch was a Thursday. */
function toWeekday(minute: number): number {
  return (Math.floor(minute / 1440) + 3) % 7;
}

function toGroup(minute: number, rhythm: Rhythm): number {
  if (rhythm === 'none') return 0;
  const day = toWeekday(minute);
  return Number(rhythm === 'weekend' ? day >= 5 : day === rhythm);
}

/** Compares the weekdays of four weeks or more by the test of Kruskal and Wallis. */
function findRhythm(drift: Lists): Rhythm {
  const ends = toEnds(drift);
  if (drift.lastMinute - (ends[0] ?? 0) < fourWeeks) return 'none';
  const ranks = toRanks(drift.tenths);
  const test = (toPart: (day: number) => number) => {
    const parts = new Map<number, { count: number; sum: number }>();
    for (const [place, rank] of ranks.entries()) {
      const part = toPart(toWeekday(ends[place] ?? 0));
      const { count, sum } = parts.get(part) ?? { count: 0, sum: 0 };
      parts.set(part, { count: count + 1, sum: sum + rank });
    }
    const n = ranks.length;
    let squares = 0;
    for (const { count, sum } of parts.values()) squares += (sum * sum) / count;
    return { h: (12 / (n * (n + 1))) * squares - 3 * (n + 1), parts: parts.size };
  };
  const { h, parts } = test((day) => day);
  if (parts < 2 || h < (chiSquares[parts - 2] ?? Number.POSITIVE_INFINITY)) return 'none';
  const rhythms: readonly Rhythm[] = ['weekend', 0, 1, 2, 3, 4, 5, 6];
  const scores = rhythms.map((rhythm) => test((day) => Number(rhythm === 'weekend' ? day >= 5 : day === rhythm)).h);
  return rhythms[scores.indexOf(Math.max(...scores))] ?? 'none';
}

const fourWeeks = 28 * 1440;
/** The limits of chi-square at 0.1 %, for 1 to 6 degrees of freedom. */
const chiSquares = [10.83, 13.82, 16.27, 18.47, 20.52, 22.46];

/** The inverse of the normal distribution (Acklam's approximation, exact to nine digits). */
function toNormalQuantile(p: number): number {
  const [a, b, c, d] = coefficients;
  const rational = (x: number, over: readonly number[], under: readonly number[]): number => {
    let [above, below] = [0, 0];
    for (const each of over) above = above * x + each;
    for (const each of under) below = below * x + each;
    return above / (below * x + 1);
  };
  if (p < lowTail) return rational(Math.sqrt(-2 * Math.log(p)), c, d);
  if (p > 1 - lowTail) return -rational(Math.sqrt(-2 * Math.log(1 - p)), c, d);
  const q = p - 0.5;
  return q * rational(q * q, a, b);
}

const lowTail = 0.024_25;
const coefficients = [
  [
    -39.696_830_286_653_76, 220.946_098_424_520_5, -275.928_510_446_968_7, 138.357_751_867_269, -30.664_798_066_147_16,
    2.506_628_277_459_239,
  ],
  [
    -54.476_098_798_224_06, 161.585_836_858_040_9, -155.698_979_859_886_6, 66.801_311_887_719_72,
    -13.280_681_552_885_72,
  ],
  [
    -0.007_784_894_002_430_293, -0.322_396_458_041_136_5, -2.400_758_277_161_838, -2.549_732_539_343_734,
    4.374_664_141_464_968, 2.938_163_982_698_783,
  ],
  [0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416],
] as const;
