import { parser } from '@prometheus-io/lezer-promql';

/** A selector of a PromQL expression, with its labels. */
interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly value: string }[];
}

interface ReadPromql {
  readonly valid: boolean;
  /** The series names that the expression selects. */
  readonly metrics: readonly string[];
  readonly selectors: readonly Selector[];
  /** The labels by which the expression groups or joins. */
  readonly grouping: readonly string[];
}

export function readPromql(expr: string): ReadPromql {
  const selectors: { metric: string; matchers: { label: string; value: string }[] }[] = [];
  const grouping: string[] = [];
  let valid = true;
  const text = ({ from, to }: { readonly from: number; readonly to: number }): string => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter: ({ type, node }) => {
      if (type.isError) valid = false;
      if (type.name === 'VectorSelector') {
        const name = node.getChild('Identifier');
        selectors.push({ metric: name === null ? '' : text(name), matchers: [] });
      }
      if (type.name === 'UnquotedLabelMatcher') {
        const [label, value] = [node.firstChild, node.lastChild];
        if (label !== null && value !== null)
          selectors.at(-1)?.matchers.push({ label: text(label), value: text(value).slice(1, -1) });
      }
      if (type.name === 'LabelName' && node.parent?.name === 'GroupingLabels') grouping.push(text(node));
    },
  });
  return { valid, selectors, grouping, metrics: selectors.map(({ metric }) => metric).filter((name) => name !== '') };
}
