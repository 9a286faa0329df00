import { parser } from '@prometheus-io/lezer-promql';
import { type Counterpart, findCounterpart, goneLabels, labelNames } from './other-names.ts';

/** A query with the names of this exporter, or the reason why no such query exists. */
export type Translation = { readonly query: string } | { readonly because: string };

/**
 * Rewrites a query with metrics of another exporter; undefined for other queries. With `isSelector`, the query stays a selector.
 */
export function translateQuery(query: string, isSelector = false): Translation | undefined {
  if (!/\brundeck_/.test(query)) return undefined;
  const readable = fillVariables(query);
  const edits: Edit[] = [];
  const reasons: string[] = [];
  const whole = parser.parse(readable).topNode;
  const text = ({ from, to }: Range): string => query.slice(from, to);
  let others = 0;
  const groupings: SyntaxNode[] = [];

  whole.cursor().iterate(({ type, node }) => {
    if (type.isError) reasons.push('the query cannot be parsed');
    if (type.name === 'GroupingLabels') groupings.push(node);
    if (type.name === 'FunctionIdentifier' && /^label_(replace|join)$/.test(text(node)))
      reasons.push(`${text(node)} has names of labels in strings, which are not rewritten`);
    if (type.name !== 'VectorSelector') return;
    const name = node.getChild('Identifier');
    const counterpart = name === null ? undefined : findCounterpart(text(name));
    if (name === null && /\brundeck_/.test(text(node))) reasons.push(`${text(node)} has its name in braces`);
    if (counterpart === undefined) others += 1;
    else if ('because' in counterpart) reasons.push(`${name === null ? '' : text(name)}: ${counterpart.because}`);
    else edits.push(...translateSelector(node, { counterpart, text, reasons, isSelector }));
  });
  for (const label of groupings.flatMap((labels) => labels.getChildren('LabelName'))) {
    const wanted = toLabel(text(label), reasons);
    if (wanted !== text(label) && others > 0) reasons.push(`it joins ${text(label)} with metrics of other programs`);
    edits.push({ ...toRange(label), by: wanted });
  }
  const [because] = reasons;
  if (because !== undefined) return { because };
  const translated = apply(query, edits);
  return translated === query ? undefined : { query: translated };
}

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

type Range = { readonly from: number; readonly to: number };
type Edit = Range & { readonly by: string };

/** Replaces Grafana variables in the place of durations by durations of the same length. */
function fillVariables(query: string): string {
  return query.replaceAll(/(?<=[[:]\s*)\$(?:\{\w+\}|\w+)/g, (variable) => `${'1'.repeat(variable.length - 1)}s`);
}

type Found = {
  counterpart: Exclude<Counterpart, { because: string }>;
  text: (range: Range) => string;
  reasons: string[];
};

function translateSelector(
  selector: SyntaxNode,
  { counterpart, text, reasons, isSelector }: Found & { isSelector: boolean },
): readonly Edit[] {
  const { metric, matcher, around, only } = counterpart;
  const found = selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  const matchers = found.map((each) => ({ written: text(each), renamed: translateMatcher(each, { text, reasons }) }));
  if (only !== undefined && !isInside(selector, only.aggregation, text)) reasons.push(notAsSum);
  if (only !== undefined && !matchers.some(({ written }) => isSame(written, only.matcher))) reasons.push(notAsSum);
  const kept = matchers.filter(({ written }) => only === undefined || !isSame(written, only.matcher));
  const list = [...kept.map(({ renamed }) => renamed), ...(matcher === undefined ? [] : [matcher])];
  const written = list.length === 0 ? metric : `${metric}{${list.join(', ')}}`;
  if (around === undefined || isSelector) return [{ ...toRange(selector), by: written }];
  let outer = selector;
  while (outer.parent !== null && ['OffsetExpr', 'StepInvariantExpr'].includes(outer.parent.name)) outer = outer.parent;
  if (selector.parent?.name === 'MatrixSelector' || outer !== selector) {
    reasons.push(`${metric} becomes an expression, to which a range or an offset cannot be added`);
  }
  return [{ ...toRange(selector), by: around(written) }];
}

const notAsSum =
  'rundeck_project_execution_status has a series for each execution; only a sum of status="running" has a counterpart (see docs/migration.md)';

function translateMatcher(matcher: SyntaxNode, { text, reasons }: Pick<Found, 'text' | 'reasons'>): string {
  const [label, value] = [matcher.firstChild, matcher.lastChild];
  if (label === null || value === null) return text(matcher);
  const name = toLabel(text(label), reasons);
  if (name === 'server' && !text(value).includes('$')) {
    reasons.push(`server is the configured name of a server, not ${text(value)}`);
  }
  return `${name}${text({ from: label.to, to: matcher.to })}`;
}

export function toLabel(name: string, reasons: string[]): string {
  if (goneLabels.has(name)) reasons.push(`no series has the label ${name} here`);
  return labelNames.get(name) ?? name;
}

function isInside(selector: SyntaxNode, aggregation: string, text: Found['text']): boolean {
  const call = selector.parent;
  const operation = call?.name === 'FunctionCallBody' ? call.parent?.getChild('AggregateOp') : undefined;
  return operation !== undefined && operation !== null && text(operation).toLowerCase() === aggregation;
}

function isSame(one: string, other: string): boolean {
  return one.replaceAll(/\s/g, '') === other;
}

function toRange({ from, to }: Range): Range {
  return { from, to };
}

function apply(query: string, edits: readonly Edit[]): string {
  let result = query;
  for (const { from, to, by } of edits.toSorted((one, other) => other.from - one.from)) {
    result = result.slice(0, from) + by + result.slice(to);
  }
  return result;
}
