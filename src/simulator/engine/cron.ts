/** A time of day and date in a zone: minute, hour, day of the month, month, day of the week (0 is Sunday). */
export type Cron = { readonly cron: string; readonly zone: string };

/**
 * The first time of a cron expression strictly after `afterMs`. A local time that a zone leaps over does not happen; one that it
 * lives twice happens once, the first time.
 */
export function nextCronTime({ cron, zone }: Cron, afterMs: number): number {
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = cron
    .split(' ')
    .map((field, index) => toValues(field, ranges[index] ?? [0, 0]));
  const today = Math.floor((afterMs + offsetMs(zone, afterMs)) / dayMs) * dayMs;
  for (let day = today; day < today + mostDays * dayMs; day += dayMs) {
    const date = new Date(day);
    const isDue =
      months.includes(date.getUTCMonth() + 1) &&
      days.includes(date.getUTCDate()) &&
      weekdays.includes(date.getUTCDay());
    const times = isDue
      ? hours.flatMap((hour) => minutes.map((minute) => day + hour * hourMs + minute * minuteMs))
      : [];
    for (const local of times) {
      const atMs = fromLocal(zone, local);
      if (atMs !== undefined && atMs > afterMs) {
        return atMs;
      }
    }
  }
  throw new Error(`The schedule "${cron}" never happens.`);
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mostDays = 1500;
const ranges: readonly (readonly [least: number, greatest: number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];

/** A field: `*`, numbers, ranges and steps, with commas between. */
function toValues(field: string, [least, greatest]: readonly [number, number]): number[] {
  const found = field.split(',').flatMap((part) => {
    const [span = '*', step = '1'] = part.split('/');
    const [from = '', to = from] = span === '*' ? [String(least), String(greatest)] : span.split('-');
    const values: number[] = [];
    for (let value = Number(from); value <= Number(to); value += Number(step)) {
      values.push(value);
    }
    return values;
  });
  return found.sort((one, other) => one - other);
}

/** Undefined for a local time that the zone leaps over. */
function fromLocal(zone: string, localMs: number): number | undefined {
  // Of two times that show the same, the earlier one has the larger offset.
  const offsets = [localMs - dayMs, localMs + dayMs].map((atMs) => offsetMs(zone, atMs));
  const candidates = offsets.map((offset) => localMs - offset).sort((one, other) => one - other);
  return candidates.find((atMs) => atMs + offsetMs(zone, atMs) === localMs);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC. */
function offsetMs(zone: string, atMs: number): number {
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
