/** One error in the configuration: its place, the problem, and a hint. */
export type Complaint = {
  /** The place, such as `config.yaml:12:5 servers[0].url`, `--web.listen-address` or `AUTOMATION_EXPORTER_URL`. */
  readonly place: string;
  readonly message: string;
  readonly hint?: string;
};

/** The result of a reload, in sentences for the user who requested it. */
export type ReloadOutcome =
  | { readonly ok: true; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly complaints: readonly string[] };

/** The place of a complaint. The offset sorts complaints about the file. */
export type Place = {
  readonly text: string;
  readonly offset?: number;
  /** Returns the place of a part of the value, or of the key of this part. */
  readonly within?: (path: readonly PropertyKey[], atKey: boolean) => Place;
};

/** Collects complaints from all sources, so that all are printed together. */
export type Complaints = {
  readonly add: (place: Place | string, message: string, hint?: string) => void;
  readonly list: () => readonly Complaint[];
};

export function createComplaints(): Complaints {
  const found: { readonly complaint: Complaint; readonly offset: number }[] = [];
  return {
    add(place, message, hint) {
      const { text, offset = -1 } = typeof place === 'string' ? { text: place } : place;
      found.push({ complaint: { place: text, message, ...(hint === undefined ? {} : { hint }) }, offset });
    },
    list: () => found.toSorted((left, right) => left.offset - right.offset).map(({ complaint }) => complaint),
  };
}

/** Returns the place of a part of a value, as exactly as the source permits. */
export function toInnerPlace(place: Place, path: readonly PropertyKey[], atKey = false): Place {
  if (path.length === 0) return place;
  return place.within?.(path, atKey) ?? { ...place, text: place.text + formatInnerPath(path) };
}

export function formatInnerPath(path: readonly PropertyKey[]): string {
  const parts = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return `.${/^[A-Za-z0-9_-]{1,60}$/.test(String(key)) ? String(key) : quote(String(key))}`;
  });
  return parts.join('');
}

export function formatComplaint({ place, message, hint }: Complaint): string {
  return hint === undefined ? `${place}: ${message}` : `${place}: ${message} (${hint})`;
}

/** Describes a value of the wrong type. A confidential value is described only by its type. */
export function describeFound(value: unknown, confidential = false): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (confidential) return `a ${typeof value === 'string' ? 'text' : typeof value}`;
  if (typeof value === 'string') return `the text ${quote(value)}`;
  return typeof value === 'number' ? `the number ${value}` : JSON.stringify(value);
}

/** Quotes an untrusted word for a message: escaped, and cut if it is long. */
export function quote(word: string): string {
  return JSON.stringify(word.length > 40 ? `${word.slice(0, 39)}…` : word);
}

/** Returns the known word that is most similar to a mistyped one; undefined if none is similar enough. */
export function findNearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > maxWordLength) return undefined;
  const wanted = word.toLowerCase();
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (candidate.length > maxWordLength || Math.abs(candidate.length - word.length) >= least) continue;
    const distance = countEdits(wanted, candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** Returns a hint with the most similar known word, ready to print. */
export function didYouMean(word: string, known: Iterable<string>, write = (name: string) => name): string | undefined {
  const nearest = findNearest(word, known);
  return nearest === undefined ? undefined : `did you mean ${write(nearest)}?`;
}

const maxWordLength = 100;

// Two swapped neighbouring letters count as one edit, because they are a common typing error.
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
