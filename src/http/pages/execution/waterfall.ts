import { toLength } from '../../../domain/ages.ts';
import { findFirstFailed, toPlaceOfFailure, toWord } from '../../../status/cause.ts';
import type { PastExecution, SpanRow } from '../../../status/past-execution.ts';
import { type Html, html } from '../html.ts';

/** The maximum number of spans that a person can read, and that a browser can draw. */
const limits = { first: 250, failed: 2000 };

/** Renders the spans of an execution as a table with times, results and reasons. */
export function renderWaterfall({ spans }: Pick<PastExecution, 'spans'>): Html {
  const [root] = spans;
  const choice = chooseRows(spans, limits);
  const first = findFirstFailed(spans);
  return html`<section class="waterfall">
<h2>Steps</h2>
${renderFailed(spans, first)}${renderLeft(choice, spans.length)}${renderFitted(spans)}<table>
<thead><tr><th>Step</th><th class="axis"><span>0</span><span>${toLength(root.endMs - root.startMs)}</span></th><th class="number">Starts</th><th class="number">Took</th><th>Result</th></tr></thead>
<tbody>${choice.rows.map((row) => ('skipped' in row ? renderGap(row) : renderRow(row, { root, isFirst: row === first })))}</tbody>
</table>
</section>
`;
}

function renderFailed(spans: readonly SpanRow[], first: SpanRow | undefined): Html | undefined {
  if (first === undefined) return undefined;
  const count = spans.filter(({ hasFailed }) => hasFailed).length;
  return html`<p>${count} of ${spans.length} spans failed; root cause: <a href="#failed"><bdi>${toPlaceOfFailure(spans) ?? first.name}</bdi></a>.</p>
`;
}

function renderLeft({ left }: Choice, total: number): Html | undefined {
  if (left.skipped === 0) return undefined;
  const failed = left.failed === 0 ? 'all failed ones' : `the first ${limits.failed} other failed ones`;
  const where = left.failed === 0 ? '' : `, of which ${left.failed} failed`;
  return html`<p class="note">Of ${total} spans, the first ${limits.first} and ${failed} are shown; ${left.skipped} are not shown${where}.</p>
`;
}

function renderFitted(spans: readonly SpanRow[]): Html | undefined {
  if (!spans.some(({ isFitted }) => isFitted)) return undefined;
  return html`<p class="note">≈ approximate: the server reports step times in whole seconds.</p>
`;
}

function renderGap({ skipped, failed }: Gap): Html {
  const what = failed === 0 ? ' that did not fail' : `, of which ${failed} failed`;
  return html`<tr class="gap"><td colspan="5">… ${skipped} more${what}</td></tr>
`;
}

type About = { readonly root: SpanRow; readonly isFirst: boolean };

function renderRow(span: SpanRow, { root, isFirst }: About): Html {
  const { name, path, depth, startMs, endMs, isFitted, remarks } = span;
  const id = path === undefined ? undefined : html` <bdi class="id">${path}</bdi>`;
  const said = [...toWhy(span), ...remarks].join('; ');
  const why = said === '' ? undefined : html`<span class="why">${said}</span>`;
  return html`<tr class="${toMood(span)}"${isFirst ? html` id="failed"` : undefined}><th scope="row" style="--depth:${Math.min(depth, deepest)}"><bdi>${name}</bdi>${id}</th><td class="track"><i style="${toPlace(span, root)}"></i></td><td data-is="Starts" class="number">${isFitted ? '≈ ' : ''}${toStart(startMs - root.startMs)}</td><td data-is="Took" class="number">${toLength(endMs - startMs)}</td><td class="result">${renderResult(span)}${why}</td></tr>
`;
}

function toStart(ms: number): string {
  return ms <= 0 ? '0' : `+${toLength(ms)}`;
}

/** A deeper indentation would leave no room for names. */
const deepest = 8;

/** Computes the position of a bar: its start and its length as shares of the whole trace. */
function toPlace({ startMs, endMs }: SpanRow, root: SpanRow): string {
  const wholeMs = Math.max(1, root.endMs - root.startMs);
  const toPercent = (ms: number): string => ((Math.min(Math.max(0, ms), wholeMs) * 100) / wholeMs).toFixed(2);
  const from = toPercent(startMs - root.startMs);
  return `--from:${from}%;--for:${toPercent(endMs - startMs)}%`;
}

type Mood = 'failed' | 'stopped' | 'success' | 'plain';

/** Returns whether a span failed, was stopped by a person, succeeded, or has no result (a wait). */
export function toMood({ result, hasFailed }: SpanRow): Mood {
  if (hasFailed) return 'failed';
  if (result === undefined) return 'plain';
  return result === 'success' ? 'success' : 'stopped';
}

/** Renders a sign beside the word, because not everybody sees colours. */
function renderResult(span: SpanRow): Html | undefined {
  const word = toWord(span.result ?? 'failure');
  switch (toMood(span)) {
    case 'failed':
      return html`<strong class="bad">✗ ${word}</strong>`;
    case 'stopped':
      return html`<span class="off">! ${word}</span>`;
    case 'success':
      return html`<span class="good">✓ ${word}</span>`;
    case 'plain':
      return undefined;
  }
}

/** Returns the reason, unless the word for the result means the same. */
function toWhy({ result, why }: SpanRow): readonly string[] {
  const isSaid = (result === 'success' && why === 'succeeded') || (result === 'cancellation' && why === 'aborted');
  return isSaid || why === '' ? [] : [why];
}

/** The number of consecutive omitted rows, and how many of them failed. */
type Gap = { readonly skipped: number; readonly failed: number };

type Choice = { readonly rows: readonly (SpanRow | Gap)[]; readonly left: Gap };

type Limits = { readonly first: number; readonly failed: number };

/** Chooses rows: the first rows, and all failed rows with their ancestors. */
export function chooseRows(spans: readonly SpanRow[], limits: Limits): Choice {
  const wanted = findWanted(spans, limits);
  const rows: (SpanRow | Gap)[] = [];
  let left: Gap = { skipped: 0, failed: 0 };
  let gap: Gap = left;
  for (const [index, span] of spans.entries()) {
    if (!wanted.has(index)) {
      gap = widen(gap, span);
      left = widen(left, span);
      continue;
    }
    if (gap.skipped > 0) rows.push(gap);
    gap = { skipped: 0, failed: 0 };
    rows.push(span);
  }
  if (gap.skipped > 0) rows.push(gap);
  return { rows, left };
}

function widen({ skipped, failed }: Gap, { hasFailed }: SpanRow): Gap {
  return { skipped: skipped + 1, failed: failed + Number(hasFailed) };
}

function findWanted(spans: readonly SpanRow[], limits: Limits): ReadonlySet<number> {
  const wanted = new Set<number>();
  const above: number[] = [];
  let failed = 0;
  for (const [index, { depth, hasFailed }] of spans.entries()) {
    above.length = Math.min(above.length, depth);
    above.push(index);
    if (index < limits.first) wanted.add(index);
    else if (hasFailed && failed < limits.failed) {
      failed += 1;
      for (const one of above) wanted.add(one);
    }
  }
  return wanted;
}
