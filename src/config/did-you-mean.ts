/** The known word nearest to a mistyped one, or undefined when none is near enough to be meant. */
export function findNearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > longestWord) return undefined;
  const wanted = word.toLowerCase();
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (candidate.length > longestWord || Math.abs(candidate.length - word.length) >= least) continue;
    const distance = countEdits(wanted, candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** The nearest known word as a hint, ready to print. */
export function didYouMean(word: string, known: Iterable<string>, write = (name: string) => name): string | undefined {
  const nearest = findNearest(word, known);
  return nearest === undefined ? undefined : `did you mean ${write(nearest)}?`;
}

const longestWord = 100;

// Two neighbouring letters in the wrong order count as one edit, because that is how people mistype.
function countEdits(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let edits = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) edits = Math.min(edits, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(edits);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
