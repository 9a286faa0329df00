import type { PatternNode } from './pattern-syntax.ts';

/** How many steps a pattern takes at most for one character of a name. */
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
 * Says whether a whole name matches. All ways through the pattern are followed at once, one character after the other,
 * so that no name can make it take longer than its length times the steps of the pattern.
 */
export function createMatcher(pattern: PatternNode): (name: string) => boolean {
  const steps = toSteps(pattern);
  const seenAt = new Int32Array(steps.length);

  return (name) => {
    seenAt.fill(-1);
    let current = follow([0], 0);
    let index = 0;
    for (const character of name) {
      if (current.length === 0) return false;
      const codePoint = character.codePointAt(0) ?? 0;
      index += character.length;
      const reached: number[] = [];
      for (const at of current) {
        const step = steps[at];
        if (step?.kind === 'character' && step.accepts(codePoint)) reached.push(at + 1);
      }
      current = follow(reached, index);
    }
    return current.some((at) => steps[at]?.kind === 'match');

    // Goes on from each place until the next character is needed.
    function follow(from: number[], position: number): number[] {
      const waiting: number[] = [];
      for (let at = from.pop(); at !== undefined; at = from.pop()) {
        const step = steps[at];
        if (step === undefined || seenAt[at] === position) continue;
        seenAt[at] = position;
        if (step.kind === 'fork') from.push(...step.to);
        else if (step.kind === 'start') from.push(...(position === 0 ? [at + 1] : []));
        else if (step.kind === 'end') from.push(...(position === name.length ? [at + 1] : []));
        else waiting.push(at);
      }
      return waiting;
    }
  };
}

type Step =
  | Extract<PatternNode, { kind: 'character' | 'start' | 'end' }>
  | { readonly kind: 'fork'; readonly to: number[] }
  | { readonly kind: 'match' };

// Every step leads to the one behind it, but a fork, which leads where it says.
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
