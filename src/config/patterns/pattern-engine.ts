const maxSteps = 1000;
const maxKept = 1000;

/**
 * Returns a function that reports whether a whole name matches a pattern. The caller must have compiled the pattern as
 * a regular expression in Unicode mode. All branches of the pattern are followed together, so that the time is at most
 * length × steps. Transitions are cached, because names are similar.
 */
export function createMatcher(source: string): (name: string) => boolean {
  const { states, first } = toStates(parseSyntax(source));
  const known = new Map<string, Position>();
  let kept = 0;

  function toPosition(from: readonly number[], isStart: boolean): Position {
    const waiting = follow(states, from, { isStart, isEnd: false });
    const ends = follow(states, waiting, { isStart, isEnd: true });
    return { waiting, isMatch: ends.some((at) => states[at]?.kind === 'match'), next: new Map() };
  }

  const start = toPosition([first], true);

  function advance({ waiting, next }: Position, codePoint: number): Position {
    const reached = waiting.flatMap((at) => {
      const state = states[at];
      return state?.kind === 'character' && state.accepts(codePoint) ? state.to : [];
    });
    const key = reached.join();
    const position = known.get(key) ?? toPosition(reached, false);
    if (kept >= maxKept) {
      known.clear();
      start.next.clear();
      kept = 0;
    }
    kept += 1;
    known.set(key, position);
    next.set(codePoint, position);
    return position;
  }

  return (name) => {
    let position = start;
    for (const character of name) {
      const codePoint = character.codePointAt(0) ?? 0;
      position = position.next.get(codePoint) ?? advance(position, codePoint);
      if (position.waiting.length === 0) return false;
    }
    return position.isMatch;
  };
}

/** The states that wait for the next character, and the known transitions. */
type Position = { waiting: readonly number[]; isMatch: boolean; next: Map<number, Position> };

type State =
  | { readonly kind: 'character'; readonly accepts: (codePoint: number) => boolean; readonly to: readonly number[] }
  | { readonly kind: 'start' | 'end' | 'fork' | 'match'; readonly to: readonly number[] };

/** Follows each state until it needs a character or the name ends. */
function follow(
  states: readonly State[],
  from: readonly number[],
  about: { isStart: boolean; isEnd: boolean },
): readonly number[] {
  const rest = [...from];
  const waiting: number[] = [];
  const seen = new Uint8Array(states.length);
  for (let at = rest.pop(); at !== undefined; at = rest.pop()) {
    const state = states[at];
    if (state === undefined || seen[at] === 1) continue;
    seen[at] = 1;
    if (state.kind === 'fork' || (state.kind === 'end' && about.isEnd)) rest.push(...state.to);
    else if (state.kind !== 'start') waiting.push(at);
    else if (about.isStart) rest.push(...state.to);
  }
  return waiting.toSorted((one, other) => one - other);
}

/** Builds the states from the end of the pattern to its start. */
function toStates(pattern: PatternNode): { states: readonly State[]; first: number } {
  const states: State[] = [];
  let steps = 0;
  const add = (state: State): number => states.push(state) - 1;

  function build(node: PatternNode, after: number): number {
    steps += 1;
    if (steps > maxSteps)
      throw new PatternError('has too many repetitions', 'write smaller numbers in braces, or * or +');
    let first = after;
    if (node.kind === 'choice') return add({ kind: 'fork', to: node.parts.map((part) => build(part, after)) });
    if (node.kind === 'sequence') {
      for (const part of node.parts.toReversed()) first = build(part, first);
      return first;
    }
    if (node.kind !== 'repeat') return add({ ...node, to: [after] });
    const { part, min, max } = node;
    if (max === Number.POSITIVE_INFINITY) {
      const to = [after];
      first = add({ kind: 'fork', to });
      to.push(build(part, first));
    } else for (let time = min; time < max; time += 1) first = add({ kind: 'fork', to: [build(part, first), after] });
    for (let time = 0; time < min; time += 1) first = build(part, first);
    return first;
  }

  const match = add({ kind: 'match', to: [] });
  return { states, first: build(pattern, match) };
}

type PatternNode =
  | { readonly kind: 'character'; readonly accepts: (codePoint: number) => boolean }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number };

/** The error of a pattern that is too large or uses an unsupported feature. The message is the end of a sentence. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  readonly hint: string;

  constructor(message: string, hint = 'patterns support characters, classes, groups, | and repetitions') {
    super(message);
    this.hint = hint;
  }
}

function parseSyntax(source: string): PatternNode {
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
    // The mark `?` of a lazy repetition is ignored, because it makes a difference only for captures.
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

// A class, an escape, or a plain character. A pair of escaped surrogates is one character.
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
  // ASCII characters have a table, because the regular expression is slow and most names are ASCII.
  const ascii = Array.from({ length: 128 }, (_, codePoint) => accepts(codePoint));
  return (codePoint) => ascii[codePoint] ?? accepts(codePoint);
}
