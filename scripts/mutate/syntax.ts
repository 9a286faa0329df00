import { parseAst } from 'vitest/node';

/** A node of the syntax tree, whose positions are offsets in the text. */
export type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>;

/** Reads TypeScript without executing it. */
export function parseSource(text: string): Node {
  // oxlint-disable-next-line typescript/no-deprecated -- The successor is in a package without other use here.
  const program: unknown = parseAst(text, { lang: 'ts' });
  if (!isNode(program)) throw new Error('the parser returned no program');
  return program;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Returns the node at `key`, if it exists. */
export function child(node: Node, key: string): Node | undefined {
  const value = node[key];
  return isNode(value) ? value : undefined;
}

/** Returns the nodes of the list at `key`; none if it is no list. */
export function children(node: Node, key: string): readonly Node[] {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Returns all nodes below a node, in the order of the text. */
export function below(node: Node): readonly Node[] {
  const values: readonly unknown[] = Object.values(node).flat();
  return values.filter(isNode).toSorted((a, b) => a.start - b.start);
}

/** Returns the name of an identifier, or of the last part of `a.b.c`. */
export function nameOf(node: Node | undefined): string {
  if (node === undefined) return '';
  if (node.type === 'MemberExpression') return node['computed'] === true ? '' : nameOf(child(node, 'property'));
  return typeof node['name'] === 'string' ? node['name'] : '';
}
