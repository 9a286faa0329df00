import type { JobNote } from './real-journal.ts';

/** Returns the seven fields of a schedule; undefined if there is none. */
export function toCron({ schedule }: JobNote['definition']): readonly string[] | undefined {
  if (schedule === undefined) return undefined;
  if (schedule.crontab !== undefined) return schedule.crontab.split(/\s+/);
  const { time, month = '*', year = '*', weekday, dayofmonth } = schedule;
  if (time === undefined) return undefined;
  return [time.seconds, time.minute, time.hour, dayofmonth?.day ?? '?', month, weekday?.day ?? '?', year];
}

/** Compares minutes and seconds first, because most times differ there. */
export function matches(cron: readonly string[], atMs: number, timeZone: string): boolean {
  const [second = '*', minute = '*', hour = '*', day = '*', month = '*', weekday = '*', year = '*'] = cron;
  const at = new Date(atMs);
  if (!isIn(second, at.getUTCSeconds(), 60) || !isIn(minute, at.getUTCMinutes(), 60)) return false;
  const format = {
    hourCycle: 'h23',
    hour: '2-digit',
    day: 'numeric',
    month: 'numeric',
    weekday: 'short',
    year: 'numeric',
  };
  const told = new Intl.DateTimeFormat('en-US', { timeZone, ...format } as Intl.DateTimeFormatOptions).formatToParts(
    at,
  );
  const parts = Object.fromEntries(told.map(({ type, value }) => [type, value]));
  const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
  const named = weekday.toUpperCase().replaceAll(/[A-Z]{3}/g, (name) => String(weekdays.indexOf(name) + 1));
  return (
    isIn(hour, Number(parts['hour']), 24) &&
    isIn(day, Number(parts['day']), 31) &&
    isIn(month, Number(parts['month']), 12) &&
    isIn(named, weekdays.indexOf(parts['weekday']?.toUpperCase() ?? '') + 1, 7) &&
    isIn(year, Number(parts['year']), 9999)
  );
}

function isIn(field: string, value: number, most: number): boolean {
  return field.split(',').some((part) => {
    const [range = '*', step] = part.split('/');
    if (range === '*' || range === '?') return step === undefined || value % Number(step) === 0;
    const [from = 0, to = step === undefined ? from : most] = range.split('-').map(Number);
    return value >= from && value <= to && (value - from) % Number(step ?? 1) === 0;
  });
}
