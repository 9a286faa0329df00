import { toAge, toTook, toWait } from '../../../domain/ages.ts';
import type { CollectorStatus, TargetStatus } from '../../../status/status.ts';
import { type Html, html } from '../html.ts';

/** Renders the collectors: failures first and in full, successes in one line each, disabled ones in a list of their own. */
export function renderCollectors({ collectors, state, message }: TargetStatus, nowMs: number): Html {
  const polled = collectors.filter((collector) => !isQuietlyOff(collector));
  const off = collectors.filter(isQuietlyOff);
  return html`${renderTable(polled.toSorted(byTrouble), nowMs, state === 'up' ? undefined : message)}${renderOff(off, nowMs)}`;
}

/** Reports whether a collector is off for good; a denied one is off as well, but can be fixed. */
function isQuietlyOff({ result, reason }: CollectorStatus): boolean {
  return result === 'off' && reason !== 'denied';
}

const troubleFirst: readonly CollectorStatus['result'][] = ['failed', 'off', 'waiting', 'success'];

function byTrouble(a: CollectorStatus, b: CollectorStatus): number {
  const isFine = ({ message, complaints }: CollectorStatus): number =>
    Number(message === undefined) + Number(complaints.length === 0);
  return troubleFirst.indexOf(a.result) - troubleFirst.indexOf(b.result) || isFine(a) - isFine(b);
}

/** Renders the table without the message of the whole server, which stands above it. */
function renderTable(
  running: readonly CollectorStatus[],
  nowMs: number,
  saidAbove: string | undefined,
): Html | undefined {
  if (running.length === 0) return undefined;
  return html`<h3>Collectors</h3>
<table>
<thead><tr><th>Collector</th><th>Result</th><th>Last run</th><th>Next</th><th class="number">Took</th><th class="number">Series</th></tr></thead>
<tbody>${running.map((collector) => renderRow(collector, nowMs, saidAbove))}</tbody>
</table>
`;
}

function renderRow(collector: CollectorStatus, nowMs: number, saidAbove: string | undefined): Html {
  const { name, message, complaints, lastRunAtMs, lastSuccessAtMs, tookMs, series, result } = collector;
  const lastGood =
    lastSuccessAtMs === undefined ? 'it never succeeded' : `it last succeeded ${toAge(lastSuccessAtMs, nowMs)}`;
  const said = message === undefined ? complaints : [...complaints, message];
  const why = result === 'failed' ? `${message}; ${lastGood}` : said.join('; ');
  return html`<tr class="${result}"><th scope="row">${name}</th><td data-is="Result">${renderResult(collector)}</td>${toCell(
    'Last run',
    lastRunAtMs === undefined ? undefined : toAge(lastRunAtMs, nowMs),
  )}${toCell('Next', toNext(collector, nowMs))}${toCell('Took', tookMs === undefined ? undefined : toTook(tookMs), 'number')}${toCell(
    'Series',
    series,
    'number',
  )}</tr>
${why === '' || (message !== undefined && message === saidAbove) ? undefined : html`<tr class="why ${result}"><td colspan="6">${why}</td></tr>\n`}`;
}

function toCell(name: string, value: string | number | undefined, style?: 'number'): Html {
  if (value === undefined) return html`<td class="none"></td>`;
  return style === undefined
    ? html`<td data-is="${name}">${value}</td>`
    : html`<td data-is="${name}" class="${style}">${value}</td>`;
}

function renderResult({ result, reason, message, complaints, lastRunAtMs }: CollectorStatus): Html {
  if (result === 'failed') return html`<strong class="bad">✗ ${toWords(reason ?? result)}</strong>`;
  if (result === 'off') return html`<strong class="bad">✗ denied</strong>`;
  if (result === 'waiting')
    return html`<span class="off">… ${lastRunAtMs === undefined ? 'not run yet' : 'asked again'}</span>`;
  if (complaints.length > 0) return html`<strong class="bad">✗ not well</strong>`;
  return message === undefined ? html`ok` : html`<span class="off">! ok, in part</span>`;
}

function toNext({ isUnderWay, nextRunAtMs }: CollectorStatus, nowMs: number): string | undefined {
  if (isUnderWay) return 'under way';
  return nextRunAtMs === undefined ? undefined : toWait(nextRunAtMs, nowMs);
}

/** Why something is off, as a person would say it. */
const offWords: Readonly<Record<string, string>> = {
  version: 'the API version in use does not have it',
  not_found: 'the server does not offer it',
  meaningless: 'the server has no meaningful value',
};

function renderOff(off: readonly CollectorStatus[], nowMs: number): Html | undefined {
  if (off.length === 0) return undefined;
  const byConfig = off.filter(({ reason }) => reason === 'config').map(({ name }) => name);
  const items = off.filter(({ reason }) => reason !== 'config').map((collector) => renderOffItem(collector, nowMs));
  const last = html`<li><b>${byConfig.join(', ')}</b>: switched off by configuration</li>\n`;
  return html`<div class="offs"><h3>Off</h3><ul>${items}${byConfig.length === 0 ? undefined : last}</ul></div>
`;
}

function renderOffItem({ name, reason, message, nextRunAtMs }: CollectorStatus, nowMs: number): Html {
  const why = message === undefined ? '' : ` (${message})`;
  const next = nextRunAtMs === undefined ? '' : `; asked again ${toWait(nextRunAtMs, nowMs)}`;
  return html`<li><b>${name}</b>: ${offWords[reason ?? ''] ?? reason}${why}${next}</li>\n`;
}

function toWords(kind: string): string {
  return kind.replaceAll('_', ' ');
}
