import { defaultThresholds } from '../../alerts/thresholds.ts';

/**
 * Counts the series of a server once, even if several exporters watch it: sums use the largest value of any exporter. The series
 * of exporters about themselves are added up.
 */
export function onceForAllExporters(expr: string): string {
  const found = /\bsum by \([^)]*\) \(/g;
  let result = '';
  let from = 0;
  for (let match = found.exec(expr); match !== null; match = found.exec(expr)) {
    const start = match.index + match[0].length;
    const end = findEnd(expr, start);
    const inner = expr.slice(start, end);
    result += expr.slice(from, start);
    result += isOfServer(inner) ? `max without (${defaultThresholds.replicaLabels}) (${inner})` : inner;
    from = end;
    found.lastIndex = end;
  }
  return result + expr.slice(from);
}

function isOfServer(expr: string): boolean {
  return expr.includes('automation_') && !expr.includes('automation_exporter_');
}

/** Returns the place of the closing parenthesis. */
function findEnd(expr: string, start: number): number {
  let depth = 1;
  for (let index = start; index < expr.length; index += 1) {
    if (expr[index] === '(') depth += 1;
    if (expr[index] === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return expr.length;
}

/** Selects the series with the largest values in the whole range, so that the same series are drawn at each point. */
export function topOverRange(count: number, by: string, expr: string, ranking: string): string {
  return `${expr}\nand on (${by}) topk(${count}, ${ranking})`;
}
