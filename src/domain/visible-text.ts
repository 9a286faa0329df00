/** Escapes control and invisible characters as JSON does: names may come from anyone. */
export function toVisible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    // A character may be two of these units.
    character.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** The same for several lines, which stay separate. */
export function toVisibleLines(lines: string): string {
  return lines.split('\n').map(toVisible).join('\n');
}
