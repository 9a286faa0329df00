import { child, isNode, type Node, nameOf, parseSource } from '../../scripts/mutate/syntax.ts';
import type { Source } from './sources.ts';

/** A function with what stands in it, from its signature to its end; its closures count by themselves as well. */
export type LongFunction = { readonly path: string; readonly name: string; readonly lines: number };

const mostLines = 80;

/** Lists every function of more than `most` lines. */
export function findLongFunctions(sources: readonly Source[], most = mostLines): readonly LongFunction[] {
  return sources.flatMap(({ path, text }) => {
    // Reading the syntax takes its time: a short file has no long function.
    if (countLines(text) <= most) return [];
    return [...functionsOf(parseSource(text), '')].flatMap(({ name, node }) => {
      const lines = countLines(text.slice(node.start, node.end));
      return lines > most ? [{ path, name, lines }] : [];
    });
  });
}

/** One sentence for each function that is too long. */
export function judgeLengths(found: readonly LongFunction[]): readonly string[] {
  return found.map(
    ({ path, name, lines }) => `${path}: ${name} has ${lines} lines, more than ${mostLines}: split it by ideas.`,
  );
}

const kinds = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

function* functionsOf(node: Node, name: string): Generator<{ readonly name: string; readonly node: Node }> {
  if (kinds.includes(node.type) && child(node, 'body') !== undefined) {
    yield { name: nameOf(child(node, 'id')) || name || 'a function without a name', node };
  }
  // A closure has the name of the variable, field or method that holds it.
  const given = nameOf(child(node, 'id')) || nameOf(child(node, 'key'));
  for (const value of Object.values(node)) {
    for (const inner of Array.isArray(value) ? value : [value]) if (isNode(inner)) yield* functionsOf(inner, given);
  }
}

function countLines(text: string): number {
  return text.split('\n').length;
}
