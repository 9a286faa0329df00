/** Names and words of the service have room in this; what is longer is shown by its beginning. */
export const longestText = 1024;

/**
 * Cuts every text of a value that was just parsed, names of members too; returns how many there were. The source spares most
 * of them the look.
 */
export function cutTexts(value: unknown, source: string): { readonly value: unknown; readonly cut: number } {
  if (!mayHoldLongText(source)) return { value, cut: 0 };
  if (typeof value === 'string')
    return value.length > longestText ? { value: cutText(value), cut: 1 } : { value, cut: 0 };
  let cut = 0;
  // Not by recursion: lists within lists may be as deep as their sender likes.
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    // The cast is true: a list can be read by the names of its places.
    const members = next as Record<string, unknown>;
    for (const [key, member] of Object.entries(members)) {
      const isLong = typeof member === 'string' && member.length > longestText;
      if (isLong) members[key] = cutText(member);
      else open.push(member);
      if (key.length > longestText) {
        members[cutText(key)] = members[key];
        Reflect.deleteProperty(members, key);
      }
      cut += Number(isLong) + Number(key.length > longestText);
    }
  }
  return { value, cut };
}

/** The beginning of a text and a mark; half a character at its end would have no bytes. */
function cutText(text: string): string {
  return `${text.slice(0, longestText - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Reports whether there is enough between two quotes; a quote within a text hides how long that is. */
function mayHoldLongText(source: string): boolean {
  if (source.length <= longestText) return false;
  if (source.includes('\\"')) return true;
  let last = 0;
  for (let at = source.indexOf('"'); at !== -1; at = source.indexOf('"', at + 1)) {
    if (at - last > longestText) return true;
    last = at;
  }
  return source.length - last > longestText;
}
