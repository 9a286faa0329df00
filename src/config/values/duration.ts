import { type Parsed, parsedText, toExampleHint, type ValueType } from './value-type.ts';

/** A duration between two bounds, inclusive. */
export function duration(min: string, max?: string): ValueType<number, 'duration'> {
  const [minMs, maxMs] = [toMs(min), max === undefined ? Number.MAX_SAFE_INTEGER : toMs(max)];
  const parse = (found: string): Parsed<number> => {
    const parsed = parseDuration(found);
    if ('problem' in parsed) return parsed;
    if (parsed.value < minMs) return { problem: 'is too short', hint: `at least ${min}` };
    if (parsed.value > maxMs) return { problem: 'is too long', hint: `at most ${max}` };
    return parsed;
  };
  const examples = ['15s', '1h30m'];
  const type = parsedText(parse, {
    takes: 'a duration',
    examples,
    placeholder: 'DURATION',
    json: { pattern: '^(\\d+w)?(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$' },
    format: formatDuration,
    hint: (found) =>
      typeof found === 'number' ? `write ${found}s for seconds, ${found}m for minutes` : toExampleHint(examples),
  });
  return { ...type, kind: 'duration' };
}

// The bounds are in the source code, so an invalid bound is a bug.
function toMs(written: string): number {
  const parsed = parseDuration(written);
  if ('problem' in parsed) throw new TypeError(`${written} ${parsed.problem}`);
  return parsed.value;
}

/** Converts `500ms`, `15s`, `10m`, `2h`, `1d`, `1w` and sums such as `1h30m` to milliseconds. */
export function parseDuration(text: string): Parsed<number> {
  if (/^\d{1,9}$/.test(text))
    return { problem: 'has no unit', hint: `write ${text}s for seconds, ${text}m for minutes` };
  if (text.length > 40 || !/^(\d+(ms|[smhdw]))+$/.test(text)) {
    return {
      problem: 'is not a duration',
      hint: 'write whole numbers with ms, s, m, h, d or w, for example 15s or 1h30m',
    };
  }
  let total = 0;
  let smallest = Number.POSITIVE_INFINITY;
  for (const [, digits = '', unit = ''] of text.matchAll(/(\d+)(ms|[smhdw])/g)) {
    const unitMs = unitsMs.get(unit) ?? Number.NaN;
    if (unitMs >= smallest)
      return { problem: 'is not a duration', hint: 'name each unit once, the largest first, for example 1h30m' };
    smallest = unitMs;
    total += Number(digits) * unitMs;
  }
  if (!Number.isSafeInteger(total)) return { problem: 'is too long' };
  return { value: total };
}

/** Writes milliseconds so that `parseDuration` can read them. */
export function formatDuration(durationMs: number): string {
  let rest = durationMs;
  let text = '';
  for (const [unit, unitMs] of unitsMs) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}

const unitsMs: ReadonlyMap<string, number> = new Map([
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]);
