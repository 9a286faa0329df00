/** Formats a size in its most natural unit. */
export function toSize(bytes: number): string {
  const unit = units.find(({ size }) => bytes >= size);
  if (unit === undefined) return `${bytes} B`;
  const count = bytes / unit.size;
  // The number is cut, not rounded, so that it never appears to exceed a limit.
  return `${count >= 10 ? Math.floor(count) : Math.floor(count * 10) / 10} ${unit.name}`;
}

const units = [
  { name: 'GiB', size: 2 ** 30 },
  { name: 'MiB', size: 2 ** 20 },
  { name: 'KiB', size: 2 ** 10 },
] as const;

export function toCapital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function toCount(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}

/** Lists the first few of many names. `count` may be larger than the list. */
export function toList(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, count > 4 ? 3 : 4);
  const rest = count - shown.length;
  const all = rest > 0 ? [...shown, `${rest.toLocaleString('en')} more`] : shown;
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(all);
}

/** Escapes control and invisible characters as in JSON, because names may come from anybody. */
export function toVisible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    // A character may consist of two UTF-16 units.
    character.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Escapes several lines, which stay separate. */
export function toVisibleLines(lines: string): string {
  return lines.split('\n').map(toVisible).join('\n');
}
