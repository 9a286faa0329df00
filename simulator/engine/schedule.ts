/** A regular interval with an offset, in UTC. The cadence begins at `fromMs`, if given. */
type Cadence = { readonly everyMs: number; readonly offsetMs: number; readonly fromMs?: number };

export type Schedule = Cadence | Cron;

/**
 * Returns a schedule with shorter intervals for a higher speed. The speed moves no run into the future and does not
 * change calendar schedules.
 */
export function accelerate(schedule: Schedule, speed: number): Schedule {
  if ('cron' in schedule) return schedule;
  return { ...schedule, everyMs: Math.max(1000, Math.round(schedule.everyMs / speed)) };
}

export function nextTime(schedule: Schedule, afterMs: number): number {
  if ('cron' in schedule) return nextCronTime(schedule, afterMs);
  const { everyMs, offsetMs, fromMs = 0 } = schedule;
  return (Math.floor((Math.max(afterMs, fromMs - 1) - offsetMs) / everyMs) + 1) * everyMs + offsetMs;
}

export function timesBetween(schedule: Schedule, fromMs: number, toMs: number, limit: number): number[] {
  const times: number[] = [];
  for (let time = nextTime(schedule, fromMs); time <= toMs && times.length < limit; time = nextTime(schedule, time)) {
    times.push(time);
  }
  return times;
}

/** Counts the times after `fromMs` up to `toMs`, perhaps millions. */
export function countBetween(schedule: Schedule, fromMs: number, toMs: number): number {
  if ('cron' in schedule) return countCronTimes(schedule, fromMs, toMs);
  const firstMs = nextTime(schedule, fromMs);
  return firstMs > toMs ? 0 : Math.floor((toMs - firstMs) / schedule.everyMs) + 1;
}

/** A cron expression in a zone: second (0 if omitted), minute, hour, day of month, month, day of week (0: Sunday). */
type Cron = { readonly cron: string; readonly zone: string };

/**
 * Returns the first time of a cron expression after `afterMs`; local times that the zone skips are left out, and
 * repeated ones count once.
 */
export function nextCronTime({ cron, zone }: Cron, afterMs: number): number {
  const { times, isDue } = readCron(cron);
  const local = afterMs + offsetMs(zone, afterMs);
  const today = Math.floor(local / dayMs) * dayMs;
  const isSteady = offsetMs(zone, afterMs - dayMs) === offsetMs(zone, afterMs + dayMs);
  const slackMs = isSteady ? 0 : 3 * hourMs;
  for (let day = today; day < today + maxDays * dayMs; day += dayMs) {
    if (!isDue(day)) continue;
    const beginMs = local - day - slackMs;
    for (const time of times) {
      if (time < beginMs) continue;
      const atMs = fromLocal(zone, day + time);
      if (atMs !== undefined && atMs > afterMs) return atMs;
    }
  }
  throw new Error(`The schedule "${cron}" never happens.`);
}

/** Counts the times after `fromMs` up to `toMs`. Changes of daylight saving time are ignored. */
export function countCronTimes({ cron, zone }: Cron, fromMs: number, toMs: number): number {
  const { times, isDue } = readCron(cron);
  const [fromLocalMs, toLocalMs] = [fromMs + offsetMs(zone, fromMs), toMs + offsetMs(zone, fromMs)];
  let count = 0;
  for (let day = Math.floor(fromLocalMs / dayMs) * dayMs; day <= toLocalMs; day += dayMs) {
    if (!isDue(day)) continue;
    const isWhole = day > fromLocalMs && day + dayMs <= toLocalMs;
    count += isWhole ? times.length : times.filter((at) => day + at > fromLocalMs && day + at <= toLocalMs).length;
  }
  return count;
}

type Times = {
  /** The times of a day at which the job is due, since midnight, if the day is due. */
  readonly times: readonly number[];
  readonly isDue: (day: number) => boolean;
};

const read = new Map<string, Times>();

function readCron(cron: string): Times {
  const known = read.get(cron);
  if (known !== undefined) return known;
  const fields = cron.split(' ');
  const [seconds = [], minutes = [], hours = [], days = [], months = [], weekdays = []] = (
    fields.length > 5 ? fields : ['0', ...fields]
  ).map((field, index) => toValues(field, ranges[index] ?? [0, 0]));
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => hour * hourMs + minute * minuteMs + second * 1000)),
  );
  const isDue = (day: number): boolean => {
    const date = new Date(day);
    return (
      months.includes(date.getUTCMonth() + 1) && days.includes(date.getUTCDate()) && weekdays.includes(date.getUTCDay())
    );
  };
  read.set(cron, { times, isDue });
  return { times, isDue };
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const maxDays = 1500;
const ranges: readonly (readonly [least: number, greatest: number])[] = [
  [0, 59],
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];

/** Reads a field: `*`, numbers, ranges and steps, separated by commas. */
function toValues(field: string, [least, greatest]: readonly [number, number]): number[] {
  const found = field.split(',').flatMap((part) => {
    const [span = '*', step = '1'] = part.split('/');
    const [from = '', to = from] = span === '*' ? [String(least), String(greatest)] : span.split('-');
    const values: number[] = [];
    for (let value = Number(from); value <= Number(to); value += Number(step)) values.push(value);
    return values;
  });
  return found.sort((one, other) => one - other);
}

/** Returns undefined for a local time that the zone skips. */
function fromLocal(zone: string, localMs: number): number | undefined {
  // Of two equal local times, the earlier has the larger offset.
  const offsets = [localMs - dayMs, localMs + dayMs].map((atMs) => offsetMs(zone, atMs));
  const candidates = offsets.map((offset) => localMs - offset).sort((one, other) => one - other);
  return candidates.find((atMs) => atMs + offsetMs(zone, atMs) === localMs);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns how far the clocks of a zone are ahead of UTC. */
function offsetMs(zone: string, atMs: number): number {
  if (zone === 'UTC') return 0;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { ...numeric, timeZone: zone });
  formats.set(zone, format);
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return local - Math.floor(atMs / 1000) * 1000;
}

const numeric = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;
