export type PatternNode =
  | { readonly kind: 'character'; readonly accepts: (codePoint: number) => boolean }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number };

/** A feature of regular expressions that patterns lack, or too large a pattern; the message ends a sentence. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  readonly hint: string;

  constructor(message: string, hint = 'patterns support characters, classes, groups, | and repetitions') {
    super(message);
    this.hint = hint;
  }
}

/** Parses a text that the caller has already compiled as a regular expression in Unicode mode. */
export function parsePatternSyntax(source: string): PatternNode {
  let rest = source;

  function parseChoice(): PatternNode {
    const parts = [parseSequence()];
    while (take(/^\|/) !== undefined) parts.push(parseSequence());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: 'choice', parts };
  }

  function parseSequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (let atom = parseAtom(); atom !== undefined; atom = parseAtom()) parts.push(parseRepeat(atom));
    return { kind: 'sequence', parts };
  }

  function parseRepeat(part: PatternNode): PatternNode {
    // Greedy or not changes only captures.
    const mark = take(/^(?:[*+?]|\{\d+(?:,\d*)?\})\??/);
    if (mark === undefined) return part;
    const [min, max] = toBounds(mark);
    return { kind: 'repeat', part, min, max };
  }

  function parseAtom(): PatternNode | undefined {
    if (/^(?:$|[|)])/.test(rest)) return undefined;
    if (take(/^\^/) !== undefined) return { kind: 'start' };
    if (take(/^\$/) !== undefined) return { kind: 'end' };
    for (const [start, problem] of unknownHere) if (start.test(rest)) throw new PatternError(problem);
    if (take(/^\((?:\?:|\?<[^>]*>)?/) !== undefined) {
      const inner = parseChoice();
      take(/^\)/);
      return inner;
    }
    const character = take(characterPattern) ?? '';
    return { kind: 'character', accepts: toTest(character) };
  }

  function take(start: RegExp): string | undefined {
    const taken = start.exec(rest)?.[0];
    if (taken !== undefined) rest = rest.slice(taken.length);
    return taken;
  }

  return parseChoice();
}

const unknownHere: readonly (readonly [RegExp, string])[] = [
  [/^\(\?<?[=!]/, 'uses lookahead or lookbehind'],
  [/^\\[bB]/, 'uses a word boundary'],
  [/^\\(?:[1-9]|k<)/, 'uses a backreference'],
  [/^\(\?[^:<]/, 'changes its flags in the middle'],
];

// A class, an escape, or a plain character; a pair of escaped surrogates is one character.
const characterPattern =
  /^(?:\[(?:\\.|[^\]\\])*\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u\{[^}]*\}|\\u.{4}|\\[pP]\{[^}]*\}|\\x..|\\c.|\\.|.)/su;

function toBounds(mark: string): [number, number] {
  if (mark.startsWith('*')) return [0, Number.POSITIVE_INFINITY];
  if (mark.startsWith('+')) return [1, Number.POSITIVE_INFINITY];
  if (mark.startsWith('?')) return [0, 1];
  const [, min = '0', comma, max = ''] = /^\{(\d+)(,?)(\d*)/.exec(mark) ?? [];
  if (comma === '') return [Number(min), Number(min)];
  return [Number(min), max === '' ? Number.POSITIVE_INFINITY : Number(max)];
}

function toTest(character: string): (codePoint: number) => boolean {
  const expression = new RegExp(`^${character}$`, 'su');
  const accepts = (codePoint: number) => expression.test(String.fromCodePoint(codePoint));
  // A table for ASCII, because the expression is slow and most names are ASCII.
  const ascii = Array.from({ length: 128 }, (_, codePoint) => accepts(codePoint));
  return (codePoint) => ascii[codePoint] ?? accepts(codePoint);
}
