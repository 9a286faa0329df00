import { parser } from '@prometheus-io/lezer-promql';

/** What a PromQL expression consists of: whether it parses, and the series names it selects. */
export function readPromql(expr: string): { readonly valid: boolean; readonly metrics: readonly string[] } {
  const metrics: string[] = [];
  let valid = true;
  parser.parse(expr).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) valid = false;
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') metrics.push(expr.slice(from, to));
    },
  });
  return { valid, metrics };
}
