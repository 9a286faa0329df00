import { child, children, type Node, nameOf } from './syntax.ts';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
const texts = ['message', 'text', 'help', 'hint', 'description', 'summary', 'headline'];
const typedValues = ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'];
const declarations = ['ImportDeclaration', 'ExportAllDeclaration'];

/** Nodes without mutants: types, imports, logging, and texts of messages. */
export function isHarmless(node: Node, parent: Node | undefined): boolean {
  if (node.type.startsWith('TS') && !typedValues.includes(node.type)) return true;
  if (declarations.includes(node.type)) return true;
  return isLogging(node) || (parent !== undefined && isMessage(node, parent));
}

/** Reports whether a statement only writes log lines, perhaps under a condition. */
function isLogging(node: Node): boolean {
  switch (node.type) {
    case 'ExpressionStatement':
      return isLogCall(child(node, 'expression'));
    case 'BlockStatement': {
      const statements = children(node, 'body');
      return statements.length > 0 && statements.every(isLogging);
    }
    case 'IfStatement': {
      const [consequent, alternate] = [child(node, 'consequent'), child(node, 'alternate')];
      return consequent !== undefined && isLogging(consequent) && (alternate === undefined || isLogging(alternate));
    }
    default:
      return isLogCall(node);
  }
}

function isLogCall(node: Node | undefined): boolean {
  if (node?.type !== 'CallExpression') return false;
  const callee = child(node, 'callee');
  if (callee?.type !== 'MemberExpression') return false;
  return levels.includes(nameOf(callee)) && nameOf(child(callee, 'object')) === 'log';
}

// Only the text of an error is exempt: its kind and its cause are changed.
function isMessage(node: Node, parent: Node): boolean {
  if (!isText(node)) return false;
  if (parent.type === 'NewExpression') return /(Error|Fault)$/.test(nameOf(child(parent, 'callee')));
  return parent.type === 'Property' && texts.includes(nameOf(child(parent, 'key'))) && node !== child(parent, 'key');
}

/** Reports whether a node is a string, or an expression that always returns a string. */
export function isText(node: Node | undefined): boolean {
  if (node === undefined) return false;
  switch (node.type) {
    case 'TemplateLiteral':
      return true;
    case 'Literal':
      return typeof node['value'] === 'string';
    case 'BinaryExpression':
      return node['operator'] === '+' && (isText(child(node, 'left')) || isText(child(node, 'right')));
    case 'ConditionalExpression':
      return isText(child(node, 'consequent')) && isText(child(node, 'alternate'));
    default:
      return false;
  }
}
