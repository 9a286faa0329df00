import { type Markup, page } from './markup.ts';
import type { Attributes, SunkSpan } from './read-request.ts';
import type { KeptTrace } from './shelf.ts';
import { style } from './style.ts';
import { type SpanRow, toRows } from './tree.ts';

/** The traces that began last, of all that are kept. */
export function renderList(traces: readonly KeptTrace[], kept: number): string {
  const table = page`<table>
<thead><tr><th>Trace</th><th>Began</th><th class="count">Took</th><th class="count">Spans</th><th>Result</th></tr></thead>
<tbody>${traces.map(renderEntry)}</tbody>
</table>`;
  const none = page`<p>None has come yet. An execution's trace comes when it has ended and its steps were read; load this page again in a moment.</p>`;
  return renderWhole(
    'Traces',
    page`<h1>The last traces</h1>
<p class="dim">What a collector would get: each execution as one OpenTelemetry trace, in memory alone. Shown are ${traces.length} of ${kept}.</p>
${traces.length === 0 ? none : table}`,
  );
}

/** One trace as a tree of bars; each opens and shows its attributes. */
export function renderTrace({ traceId, root, spans }: KeptTrace, executionPage: string | undefined): string {
  const rows = toRows(spans);
  const whole = { startMs: root.startMs, endMs: root.startMs + 1 };
  for (const { startMs, endMs } of spans) {
    whole.startMs = Math.min(whole.startMs, startMs);
    whole.endMs = Math.max(whole.endMs, endMs);
  }
  const more = rows.length > mostRows ? page`<p class="dim">${rows.length - mostRows} more are left out here.</p>` : '';
  return renderWhole(
    root.name,
    page`<h1>${root.name}${renderRunId(root)} <span class="${toMood(root)}">${signs[toMood(root)]} ${toResult(root)}</span></h1>
<dl><dt>Trace</dt><dd><code>${traceId}</code></dd><dt>Began</dt><dd>${toTime(root.startMs)}</dd><dt>Took</dt><dd>${toLength(root.endMs - root.startMs)}</dd><dt>Spans</dt><dd>${spans.length}</dd></dl>
${executionPage === undefined ? '' : page`<p><a href="${executionPage}">This execution in the exporter, and why each span is what it is</a></p>`}
<h2>Spans</h2>
<p class="dim">Each opens and shows its attributes.</p>
<div class="tree">${rows.slice(0, mostRows).map((row) => renderRow(row, whole))}</div>
${more}
<h2>Resource</h2>
${renderAttributes(root.resource)}`,
  );
}

/** For an id that leads nowhere, such as one whose trace is still on its way. */
export function renderMissing(kept: number): string {
  return renderWhole(
    'No such trace',
    page`<h1>This trace is not here</h1>
<p>It may still be on its way: load this page again in a moment. Or it was here, and ${kept} newer ones came after it.</p>`,
  );
}

/** The most rows that a person may look through. */
const mostRows = 1000;

function renderWhole(title: string, content: Markup): string {
  return page`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${{ markup: style }}</style>
</head>
<body>
<nav><a href="/simulator/traces">Traces</a> that the simulated service's own collector took</nav>
${content}
</body>
</html>
`.markup;
}

function renderEntry({ traceId, root, spans }: KeptTrace): Markup {
  const mood = toMood(root);
  return page`<tr><th scope="row"><a href="/simulator/traces/${traceId}">${root.name}</a>${renderRunId(root)}</th><td>${toTime(root.startMs)}</td><td class="count">${toLength(root.endMs - root.startMs)}</td><td class="count">${spans.length} ${spans.length === 1 ? 'span' : 'spans'}</td><td class="${mood}">${signs[mood]} ${toResult(root)}</td></tr>
`;
}

function renderRunId({ resource }: SunkSpan): Markup | undefined {
  const id = resource.get('cicd.pipeline.run.id');
  return id === undefined ? undefined : page` <span class="dim">#${id}</span>`;
}

type Whole = { readonly startMs: number; readonly endMs: number };

/** Deeper ones would leave their names no room. */
const deepest = 8;

function renderRow({ span, depth }: SpanRow, whole: Whole): Markup {
  const { name, startMs, endMs, attributes, links } = span;
  const toPart = (ms: number): string => `${((Math.max(0, ms) * 100) / (whole.endMs - whole.startMs)).toFixed(2)}%`;
  const linked = links.map(
    ({ traceId, attributes: [...about] }) =>
      page`<dt>linked${about.map(([, value]) => page` ${value}`)}</dt><dd><a href="/simulator/traces/${traceId}">${traceId}</a></dd>`,
  );
  return page`<details><summary><span class="name ${toMood(span)}" style="--depth:${Math.min(depth, deepest)}">${signs[toMood(span)]} ${name}</span><span class="track"><i style="--from:${toPart(startMs - whole.startMs)};--for:${toPart(endMs - startMs)}"></i></span><span class="count">${toLength(endMs - startMs)}</span></summary>
${renderAttributes(attributes, linked)}</details>
`;
}

function renderAttributes(attributes: Attributes, more: readonly Markup[] = []): Markup {
  return page`<dl>${[...attributes].map(([name, value]) => page`<dt>${name}</dt><dd>${value}</dd>`)}${more}</dl>
`;
}

/** A sign in addition to the colour, for people who cannot tell colours apart. */
const signs = { well: '✓', ill: '✗', other: '·' } as const;

function toMood(span: SunkSpan): keyof typeof signs {
  if (span.isError) return 'ill';
  return toResult(span) === 'success' ? 'well' : 'other';
}

function toResult({ attributes }: SunkSpan): string {
  return attributes.get('cicd.pipeline.result') ?? attributes.get('cicd.pipeline.task.run.result') ?? '';
}

function toTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function toLength(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}
