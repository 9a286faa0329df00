import type { Row } from '../../src/metrics/family.ts';
import { renderSamples } from '../../src/metrics/render.ts';

/** Rows as samples without what all names begin with, one a line. */
export function toLines(rows: readonly Row[]): string[] {
  return rows.map((row) => renderSamples([row]).trimEnd().replace('automation_', ''));
}
