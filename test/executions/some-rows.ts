import type { Row } from '../../src/metrics/family.ts';
import { renderSamples } from '../../src/metrics/render.ts';

/** Writes rows as samples without the prefix of their names. */
export function toLines(rows: readonly Row[]): string[] {
  return rows.map((row) => renderSamples([row]).trimEnd().replace('automation_', ''));
}
