import { PatternError, type PatternNode } from './pattern-syntax.ts';

const maxSteps = 1000;
const maxKept = 1000;

/**
 * Reports whether a whole name matches. All branches of the pattern are followed at once, character by character, so
 * that the time is limited to the length of the name times the steps of the pattern. Transitions are cached, because
 * names are similar.
 */
export function createMatcher(pattern: PatternNode): (name: string) => boolean {
  const { states, first } = toStates(pattern);
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

/** A state of a pattern, with the states after it. */
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
