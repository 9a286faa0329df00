import { isText } from './harmless.ts';
import { below, child, children, type Node, nameOf } from './syntax.ts';

export type Change = { readonly start: number; readonly end: number; readonly replacement: string };

const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '++': ['--'],
  '--': ['++'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '??=': ['='],
  '||=': ['='],
  '&&=': ['='],
};

const opposites: ReadonlyMap<string, string> = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);

const dispensable = ['filter', 'reverse', 'slice', 'sort', 'toReversed', 'toSorted', 'trim'];

const branching = [
  'IfStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
];

/** Larger numbers are limits or units. A change by one is no fault, but a doubled number or a 0 is. */
const largeNumber = 100;

/** Yields the faults of a node without the nodes below it. */
export function changesOf(node: Node, above: readonly Node[], text: string): Iterable<Change> {
  switch (node.type) {
    case 'BinaryExpression':
    case 'AssignmentExpression':
      return ofOperator(node, text);
    case 'LogicalExpression':
      return ofLogical(node, text);
    case 'UpdateExpression':
      return ofUpdate(node);
    case 'UnaryExpression':
      return ofUnary(node, text);
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'ForStatement':
      return ofCondition(node, text);
    case 'Literal':
      return ofLiteral(node, above.at(-1));
    case 'CallExpression':
      return ofCall(node);
    default:
      return ofStatement(node, above);
  }
}

function* ofOperator(node: Node, text: string): Generator<Change> {
  if (isText(node) || (node['operator'] === '+=' && isText(child(node, 'right')))) return;
  yield* ofToken(node, text);
}

function* ofToken(node: Node, text: string): Generator<Change> {
  const operator = String(node['operator']);
  const left = child(node, 'left');
  if (left === undefined) return;
  const start = text.indexOf(operator, left.end);
  for (const replacement of operators[operator] ?? []) yield { start, end: start + operator.length, replacement };
}

function* ofLogical(node: Node, text: string): Generator<Change> {
  yield* ofToken(node, text);
  yield becomes(node, `(${textOf(child(node, 'left'), text)})`);
  yield becomes(node, `(${textOf(child(node, 'right'), text)})`);
}

function* ofUpdate(node: Node): Generator<Change> {
  const operator = String(node['operator']);
  const start = node['prefix'] === true ? node.start : node.end - operator.length;
  for (const replacement of operators[operator] ?? []) yield { start, end: start + operator.length, replacement };
}

function* ofUnary(node: Node, text: string): Generator<Change> {
  const operator = node['operator'];
  if (operator === '!' || operator === '-') yield becomes(node, textOf(child(node, 'argument'), text));
}

function* ofCondition(node: Node, text: string): Generator<Change> {
  const test = child(node, 'test');
  if (test === undefined || test.type === 'Literal') return;
  yield becomes(test, 'false');
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') yield becomes(test, 'true');
  // A comparison is not negated here: the changes of its operator negate it.
  if (!['BinaryExpression', 'UnaryExpression'].includes(test.type)) yield becomes(test, `!(${textOf(test, text)})`);
}

function* ofLiteral(node: Node, parent: Node | undefined): Generator<Change> {
  if (parent?.type === 'Property' && child(parent, 'key') === node) return;
  const { value } = node;
  if (typeof value === 'boolean') yield becomes(node, String(!value));
  if (typeof value === 'number') for (const other of otherNumbers(value)) yield becomes(node, String(other));
  if (typeof value === 'bigint') for (const other of otherNumbers(Number(value))) yield becomes(node, `${other}n`);
}

function otherNumbers(value: number): ReadonlySet<number> {
  const others = new Set(value > largeNumber ? [value * 2, 0] : [value + 1, value - 1, 0]);
  others.delete(value);
  return others;
}

function* ofCall(node: Node): Generator<Change> {
  const callee = child(node, 'callee');
  const property = callee === undefined ? undefined : child(callee, 'property');
  const object = callee === undefined ? undefined : child(callee, 'object');
  if (property === undefined || object === undefined || callee?.['computed'] === true) return;
  const opposite = opposites.get(nameOf(property));
  if (opposite !== undefined) yield becomes(property, opposite);
  if (dispensable.includes(nameOf(property))) yield { start: object.end, end: node.end, replacement: '' };
}

function* ofStatement(node: Node, above: readonly Node[]): Generator<Change> {
  // The compiler refuses an empty statement as a branch.
  if (isDroppable(node, above)) yield becomes(node, branching.includes(above.at(-1)?.type ?? '') ? '{}' : ';');
  if (node.type !== 'BlockStatement') return;
  const statements = children(node, 'body');
  const [only] = statements;
  if (only === undefined || (statements.length === 1 && isDroppable(only, [...above, node]))) return;
  // The compiler refuses an empty function that must return something.
  if (!isFunction(above.at(-1)) || !statements.some(returnsValue)) yield becomes(node, '{}');
}

function isDroppable(node: Node, above: readonly Node[]): boolean {
  switch (node.type) {
    case 'ExpressionStatement':
      return node['directive'] === undefined || node['directive'] === null;
    case 'ReturnStatement':
      return child(node, 'argument') === undefined || !endsFunction(node, above);
    case 'ThrowStatement':
    case 'ContinueStatement':
    case 'BreakStatement':
      return true;
    default:
      return false;
  }
}

function endsFunction(node: Node, above: readonly Node[]): boolean {
  const block = above.at(-1);
  return block !== undefined && isFunction(above.at(-2)) && children(block, 'body').at(-1) === node;
}

function returnsValue(node: Node): boolean {
  if (isFunction(node)) return false;
  if (node.type === 'ReturnStatement' && child(node, 'argument') !== undefined) return true;
  return below(node).some(returnsValue);
}

function isFunction(node: Node | undefined): boolean {
  return node !== undefined && /Function(Expression|Declaration)$/.test(node.type);
}

function becomes(node: Node, replacement: string): Change {
  return { start: node.start, end: node.end, replacement };
}

function textOf(node: Node | undefined, text: string): string {
  return node === undefined ? '' : text.slice(node.start, node.end);
}
