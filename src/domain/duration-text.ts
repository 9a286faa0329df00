/**
 * Reads a duration such as `37s`, `83m`, `1h 3m` in milliseconds. Servers write whole seconds below a minute and whole minutes
 * above it; other units and mixtures are accepted as well. Undefined for any other text.
 */
export function toDurationMs(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed.length > longestText || !wholeText.test(trimmed)) return undefined;
  let sumMs = 0;
  for (const [, amount = '', unit = ''] of trimmed.matchAll(part)) sumMs += Number(amount) * (unitsMs[unit] ?? 0);
  return sumMs;
}

/** The longest text of a duration; patterns are slow on longer ones. */
const longestText = 40;
const part = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g;
const wholeText = /^(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)[\s,]*)+$/;

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
