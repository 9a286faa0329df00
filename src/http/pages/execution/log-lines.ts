import { toClock } from '../../../domain/ages.ts';
import type { LogLine } from '../../../domain/failure-class.ts';
import { toCount } from '../../../domain/format.ts';
import type { PastExecution } from '../../../status/past-execution.ts';
import { type Html, html } from '../html.ts';

/** Renders the log lines of a failure. Secrets must already be removed from the lines. */
export function renderLines({ lines, areOfStep }: Pick<PastExecution, 'lines' | 'areOfStep'>): Html | undefined {
  if (lines.length === 0) return undefined;
  const isOfSeveral = new Set(lines.map(({ node }) => node)).size > 1;
  const texts = lines.flatMap(({ text, atMs, node, gap }) => {
    const time = atMs === undefined ? '' : `${toClock(atMs)} `;
    const place = isOfSeveral && node !== undefined ? `${node}: ` : '';
    return [...(gap === undefined ? [] : [`${place}${toGapText(gap)}`]), `${time}${place}${text}`];
  });
  const hasEarlier = lines.some(({ gap }, index) => index > 0 && gap !== undefined);
  const title = hasEarlier && !isOfSeveral ? 'Errors and last lines' : 'The last lines';
  return html`<h2>${title} of the ${areOfStep ? 'failed step' : 'log'}</h2>
<pre><bdi>${texts.join('\n')}</bdi></pre>\n`;
}

function toGapText({ lines, isRead }: NonNullable<LogLine['gap']>): string {
  const shown = `${toCount(lines, 'line')} not shown`;
  if (isRead) return `… ${shown} …`;
  return lines === 0 ? '… lines that were not read …' : `… ${shown}, and lines that were not read …`;
}
