import { toClock } from '../../../domain/ages.ts';
import type { LogLine } from '../../../domain/failure-class.ts';
import { type Html, html } from '../html.ts';

/** Renders the lines of a failure. Secrets must already be removed. */
export function renderLines(lines: readonly LogLine[]): Html | undefined {
  if (lines.length === 0) return undefined;
  const isOfSeveral = new Set(lines.map(({ node }) => node)).size > 1;
  const texts = lines.map(({ text, atMs, node }) => {
    const time = atMs === undefined ? '' : `${toClock(atMs)} `;
    return `${time}${isOfSeveral && node !== undefined ? `${node}: ` : ''}${text}`;
  });
  return html`<h2>The last lines of the failed step</h2>
<pre><bdi>${texts.join('\n')}</bdi></pre>\n`;
}
