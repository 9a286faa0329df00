import { type Html, html } from './html.ts';

/** One bar of a chart: its parts from the bottom up, and its text for a pointer and a screen reader. */
export type Bar = {
  readonly parts: readonly { readonly height: number; readonly mood: 'good' | 'bad' | 'off' | 'plain' | 'open' }[];
  readonly label: string;
  /** True for a highlighted bar, such as that of the run that the page shows. */
  readonly isMarked?: boolean;
};

type Chart = {
  readonly caption: Html | string;
  readonly label: string;
  readonly bars: readonly Bar[];
  /** The labels at both ends of the axis. */
  readonly ends: readonly [string, string];
  readonly top: string;
  /** The value of a horizontal line, in the unit of the heights. */
  readonly line?: number | undefined;
  readonly limit?: number | undefined;
  readonly least?: number;
};

/** Draws bars without a script. The picture is stretched to the width of the page, so its labels are outside. */
export function renderChart({ caption, label, bars, ends, top, line, limit, least = 0 }: Chart): Html {
  const highest = Math.max(
    least,
    line ?? 0,
    limit ?? 0,
    ...bars.map(({ parts }) => parts.reduce((sum, { height }) => sum + height, 0)),
  );
  const width = 100 / Math.max(1, bars.length);
  const toY = (height: number): number => (highest === 0 ? 0 : (height * 100) / highest);
  const drawn = bars.map((bar, index) => renderBar(bar, { x: index * width, width, toY }));
  const renderAcross = (height: number | undefined, name: string): Html | undefined => {
    if (height === undefined) return undefined;
    const y = (100 - toY(height)).toFixed(2);
    return html`<line class="${name}" x1="0" x2="100" y1="${y}" y2="${y}"/>`;
  };
  return html`<figure class="chart">
<figcaption>${caption}</figcaption>
<div class="plot"><span class="top">${top}</span><svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="${label}">${drawn}${renderAcross(line, 'usual')}${renderAcross(limit, 'limit')}</svg></div>
<div class="axis"><span>${ends[0]}</span><span>${ends[1]}</span></div>
</figure>
`;
}

type Place = { readonly x: number; readonly width: number; readonly toY: (height: number) => number };

function renderBar({ parts, label, isMarked = false }: Bar, { x, width, toY }: Place): Html {
  let below = 0;
  const drawn = parts
    .filter(({ height }) => height > 0)
    .map(({ height, mood }) => {
      const y = 100 - toY(below + height);
      const rect = html`<rect class="${mood}" x="${(x + width * 0.1).toFixed(2)}" y="${y.toFixed(2)}" width="${(width * 0.8).toFixed(2)}" height="${toY(height).toFixed(2)}"/>`;
      below += height;
      return rect;
    });
  // The area for the pointer is the whole column, because the bar may be small.
  const place = html`<rect class="place${isMarked ? ' marked' : ''}" x="${x.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="100"/>`;
  return html`<g><title>${label}</title>${place}${drawn}</g>`;
}
