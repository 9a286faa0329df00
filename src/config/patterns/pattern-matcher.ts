import type { PatternNode } from './pattern-syntax.ts';

/** Returns an upper bound for the steps of a pattern for one character of a name. */
export function countSteps(node: PatternNode): number {
  switch (node.kind) {
    case 'sequence':
    case 'choice':
      return node.parts.reduce((sum, part) => sum + countSteps(part) + 1, 1);
    case 'repeat': {
      const times = node.most === Number.POSITIVE_INFINITY ? node.least + 1 : node.most;
      return times * (countSteps(node.part) + 1) + 1;
    }
    case 'character':
    case 'start':
    case 'end':
      return 1;
  }
}

/**
 * Reports whether a whole name matches. All branches of the pattern are followed at once, character by character, so
 * that the time is limited to the length of the name times the steps of the pattern. Transitions are cached, because
 * names are similar.
 */
export function createMatcher(pattern: PatternNode): (name: string) => boolean {
  const steps = toSteps(pattern);
  const known = new Map<string, State>();
  let kept = 0;

  function toState(from: number[], isStart: boolean): State {
    const places = follow(steps, from, { isStart, isEnd: false });
    const isMatch = follow(steps, [...places], { isStart, isEnd: true }).some((at) => steps[at]?.kind === 'match');
    return { places, isMatch, next: new Map() };
  }

  const start = toState([0], true);

  function advance({ places, next }: State, codePoint: number): State {
    const reached = places.filter((at) => {
      const step = steps[at];
      return step?.kind === 'character' && step.accepts(codePoint);
    });
    const key = reached.join();
    const state =
      known.get(key) ??
      toState(
        reached.map((at) => at + 1),
        false,
      );
    if (kept >= maxKept) {
      known.clear();
      start.next.clear();
      kept = 0;
    }
    kept += 1;
    known.set(key, state);
    next.set(codePoint, state);
    return state;
  }

  return (name) => {
    let state = start;
    for (let index = 0; index < name.length; index += 1) {
      const codePoint = name.codePointAt(index) ?? 0;
      if (codePoint > 0xffff) index += 1;
      state = state.next.get(codePoint) ?? advance(state, codePoint);
      if (state.places.length === 0) return false;
    }
    return state.isMatch;
  };
}

/** The positions in the pattern that wait for the next character, and the known transitions. */
type State = { places: readonly number[]; isMatch: boolean; next: Map<number, State> };

const maxKept = 1000;

// Advances each position until it needs a character or the name ends.
function follow(steps: readonly Step[], from: number[], about: { isStart: boolean; isEnd: boolean }): number[] {
  const waiting: number[] = [];
  const seen = new Uint8Array(steps.length);
  for (let at = from.pop(); at !== undefined; at = from.pop()) {
    const step = steps[at];
    if (step === undefined || seen[at] === 1) continue;
    seen[at] = 1;
    if (step.kind === 'fork') from.push(...step.to);
    else if (step.kind === 'start') from.push(...(about.isStart ? [at + 1] : []));
    else if (step.kind === 'end' && about.isEnd) from.push(at + 1);
    else waiting.push(at);
  }
  return waiting.toSorted((one, other) => one - other);
}

type Step =
  | Extract<PatternNode, { kind: 'character' | 'start' | 'end' }>
  | { kind: 'fork'; to: number[] }
  | { kind: 'match' };

// Every step leads to the next one, except a fork.
function toSteps(pattern: PatternNode): readonly Step[] {
  const steps: Step[] = [];

  function fork(...to: number[]): number[] {
    steps.push({ kind: 'fork', to });
    return to;
  }

  function add(node: PatternNode): void {
    if (node.kind === 'sequence') for (const part of node.parts) add(part);
    else if (node.kind === 'choice') addChoice(node.parts);
    else if (node.kind === 'repeat') addRepeat(node);
    else steps.push(node);
  }

  function addChoice(parts: readonly PatternNode[]): void {
    const starts = fork();
    const ends = parts.map((part) => {
      starts.push(steps.length);
      add(part);
      return fork();
    });
    for (const end of ends) end.push(steps.length);
  }

  function addRepeat({ part, least, most }: Extract<PatternNode, { kind: 'repeat' }>): void {
    for (let time = 0; time < least; time += 1) add(part);
    if (most === Number.POSITIVE_INFINITY) {
      const start = steps.length;
      const way = fork(start + 1);
      add(part);
      fork(start);
      way.push(steps.length);
      return;
    }
    const ways = Array.from({ length: most - least }, () => {
      const way = fork(steps.length + 1);
      add(part);
      return way;
    });
    for (const way of ways) way.push(steps.length);
  }

  add(pattern);
  steps.push({ kind: 'match' });
  return steps;
}
