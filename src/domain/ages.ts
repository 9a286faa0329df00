const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats a duration in its most natural unit: 90 s, not 1 min; a duration between two hours and ten days has two units. */
export function toDuration(ms: number): string {
  if (ms >= 10 * day) return `${Math.floor(ms / day)} d`;
  if (ms < second || ms >= 2 * hour) return toLength(ms);
  return ms < 2 * minute ? `${Math.floor(ms / second)} s` : `${Math.floor(ms / minute)} min`;
}

/** Formats the time since a moment. A moment in the future counts as now, because a clock may have been set back. */
export function toAge(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  return ms < second ? 'just now' : `${toDuration(ms)} ago`;
}

export function toWait(atMs: number, nowMs: number): string {
  const ms = atMs - nowMs;
  return ms < second ? 'now' : `in ${toDuration(ms)}`;
}

export function toTook(ms: number): string {
  return ms < second || ms >= 10 * second ? toDuration(ms) : `${(ms / second).toFixed(1)} s`;
}

/** Formats the duration of a step with two units, so that durations can be compared. */
export function toLength(ms: number): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < minute) return `${Math.floor(ms / 100) / 10} s`;
  const [name, large, rest, small] =
    lengths.find(([, fromMs]) => ms >= fromMs) ?? (['min', minute, 's', second] as const);
  const left = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${name}${left === 0 ? '' : ` ${left} ${rest}`}`;
}

const lengths = [
  ['d', day, 'h', hour],
  ['h', hour, 'min', minute],
] as const;

/** Formats the time of day; with the date if it is another day. */
export function toTime(atMs: number, nowMs: number): string {
  const { date, clock, zone } = toZoned(atMs);
  return `${date === toZoned(nowMs).date ? '' : `${date} `}${clock.slice(0, 5)} ${zone}`;
}

/** Formats the time of a schedule; with seconds unless they are 0. */
export function toScheduled(atMs: number, nowMs: number): string {
  return atMs % minute < second ? toTime(atMs, nowMs) : toTime(atMs, nowMs).replace(/\d\d:\d\d/, toClock(atMs));
}

/** Formats a time with its date, to the second. */
export function toMoment(atMs: number): string {
  const { date, clock, zone } = toZoned(atMs);
  return `${date} ${clock} ${zone}`;
}

/** Formats the time of day to the second. */
export function toClock(atMs: number): string {
  return toZoned(atMs).clock;
}

type Zoned = { readonly date: string; readonly clock: string; readonly zone: string };

function toZoned(atMs: number): Zoned {
  if (zoned !== undefined) return zoned(atMs);
  const at = new Date(atMs).toISOString();
  return { date: at.slice(0, 10), clock: at.slice(11, 19), zone: 'UTC' };
}

/** Converts a time to the configured zone; undefined for UTC. */
let zoned: ((atMs: number) => Zoned) | undefined;

/** Sets the time zone of all texts for people. Times for programs are in UTC. The process has one zone. */
export function setTimeZone(timeZone: string): void {
  zoned = timeZone === 'UTC' ? undefined : createZone(timeZone);
}

function createZone(timeZone: string): (atMs: number) => Zoned {
  const inDigits = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  // Each locale has the abbreviations of its part of the world, such as CET and EST.
  const formats = ['en-GB', 'en-US', 'en-AU'].map(
    (locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short', ...inDigits, ...clock }),
  );
  return (atMs) => {
    const all = formats.map((format) => new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value])));
    const [parts] = all;
    const named = all.find((each) => !/\d/.test(each.get('timeZoneName') ?? '0')) ?? parts;
    const join = (types: readonly Intl.DateTimeFormatPartTypes[], by: string): string =>
      types.map((type) => parts?.get(type) ?? '').join(by);
    return {
      date: join(['year', 'month', 'day'], '-'),
      clock: join(['hour', 'minute', 'second'], ':'),
      zone: named?.get('timeZoneName') ?? timeZone,
    };
  };
}
