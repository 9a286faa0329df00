import { toAge, toTook, toWait } from '../../../domain/ages.ts';
import type { CollectorStatus, TargetStatus } from '../../../status/status.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { isInTrouble, isQuietlyOff } from './server-state.ts';

/** Renders the collectors of a server and its members. Only collectors without problems are folded. */
export function renderCollectors(targets: readonly TargetStatus[], nowMs: number): Html {
  const [server] = targets;
  const bad = targets.map((target) => renderTrouble(target, target === server, nowMs));
  const folded = targets
    .map((target) => ({ ...target, collectors: target.collectors.filter((one) => !isShown(one, target)) }))
    .filter(({ collectors }) => collectors.length > 0);
  if (folded.length === 0) return html`${bad}`;
  const tables = folded.map((target) => {
    const owner =
      target.name === server?.name ? undefined : html`<h3>Collectors of member <bdi>${target.name}</bdi></h3>\n`;
    return html`${owner}${renderTarget(target, nowMs)}`;
  });
  return html`${bad}<details class="collectors"><summary><h3>Collectors: ${toCounts(folded)}</h3></summary>
${tables}</details>
`;
}

/** Reports whether to show a problem in the table. Problems of the whole server are at the top of the page. */
function isShown(collector: CollectorStatus, target: TargetStatus): boolean {
  const isSaidAbove = target.state !== 'up' && collector.message !== undefined && collector.message === target.message;
  return isInTrouble(collector) && !isSaidAbove;
}

function renderTrouble(target: TargetStatus, isServer: boolean, nowMs: number): Html {
  const bad = target.collectors.filter((one) => isShown(one, target)).toSorted(byTrouble);
  const owner = isServer ? undefined : html` of member <bdi>${target.name}</bdi>`;
  return bad.length === 0
    ? html``
    : html`<h3>Collectors with problems${owner}</h3>\n${renderTable(bad, nowMs, undefined)}`;
}

function toCounts(targets: readonly TargetStatus[]): string {
  const all = targets.flatMap(({ collectors }) => collectors);
  const polled = all.filter((collector) => !isQuietlyOff(collector));
  const bad = polled.filter(isInTrouble).length;
  const waiting = polled.filter(({ result }) => result === 'waiting').length;
  const counts = [
    bad === 0 ? '' : `${bad} failing`,
    bad > 0 && polled.length === bad + waiting ? '' : `${polled.length - bad - waiting} up to date`,
    waiting === 0 ? '' : `${waiting} waiting`,
    all.length === polled.length ? '' : `${all.length - polled.length} off`,
  ];
  return counts.filter((count) => count !== '').join(', ');
}

function renderTarget(target: TargetStatus, nowMs: number): Html {
  const { collectors, state, message } = target;
  const polled = collectors.filter((collector) => !isQuietlyOff(collector));
  const off = collectors.filter(isQuietlyOff);
  return html`${renderTable(polled.toSorted(byTrouble), nowMs, state === 'up' ? undefined : message)}${renderOff(off, nowMs)}`;
}

const troubleFirst: readonly CollectorStatus['result'][] = ['failed', 'off', 'waiting', 'success'];

function byTrouble(a: CollectorStatus, b: CollectorStatus): number {
  const isFine = ({ message, complaints }: CollectorStatus): number =>
    Number(message === undefined) + Number(complaints.length === 0);
  return troubleFirst.indexOf(a.result) - troubleFirst.indexOf(b.result) || isFine(a) - isFine(b);
}

/** Renders the table without the message of the whole server, which is above the table. */
function renderTable(
  running: readonly CollectorStatus[],
  nowMs: number,
  saidAbove: string | undefined,
): Html | undefined {
  if (running.length === 0) return undefined;
  return toTable(
    ['Collector', 'Result', 'Last run', 'Next', numberHead('Took'), numberHead('Series')],
    running.map((collector) => renderRow(collector, nowMs, saidAbove)),
  );
}

function renderRow(collector: CollectorStatus, nowMs: number, saidAbove: string | undefined): Html {
  const { name, message, complaints, lastRunAtMs, lastSuccessAtMs, series, result } = collector;
  const lastGood =
    lastSuccessAtMs === undefined
      ? 'the collector never succeeded'
      : `the collector last succeeded ${toAge(lastSuccessAtMs, nowMs)}`;
  const said = message === undefined ? complaints : [...complaints, message];
  const why = result === 'failed' ? `${message}; ${lastGood}` : said.join('; ');
  return html`<tr class="${result}"><th scope="row">${name}</th><td data-is="Result">${renderResult(collector)}</td>${toCell(
    'Last run',
    lastRunAtMs === undefined ? undefined : toAge(lastRunAtMs, nowMs),
  )}${toCell('Next', toNext(collector, nowMs))}${toCell('Took', toDurationOf(collector), 'number')}${toCell(
    'Series',
    series,
    'number',
  )}</tr>
${why === '' || (message !== undefined && message === saidAbove) ? undefined : html`<tr class="why ${result}"><td colspan="6">${why}</td></tr>\n`}`;
}

/** Returns the duration of a poll. Sweeps take long, because their requests are spread over the interval. */
function toDurationOf({ tookMs, isSpread }: CollectorStatus): string | undefined {
  if (tookMs === undefined) return undefined;
  return isSpread === true && tookMs >= 1000 ? `spread over ${toTook(tookMs)}` : toTook(tookMs);
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
    return html`<span class="off">… ${lastRunAtMs === undefined ? 'not polled yet' : 'polled again soon'}</span>`;
  if (complaints.length > 0) return html`<strong class="bad">✗ unhealthy</strong>`;
  return message === undefined ? html`ok` : html`<span class="off">! partial</span>`;
}

function toNext({ isUnderWay, nextRunAtMs }: CollectorStatus, nowMs: number): string | undefined {
  if (isUnderWay) return 'under way';
  return nextRunAtMs === undefined ? undefined : toWait(nextRunAtMs, nowMs);
}

const offWords: Readonly<Record<string, string>> = {
  version: 'the API version in use does not offer the data',
  not_found: 'the server does not offer the data',
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
  const next = nextRunAtMs === undefined ? '' : `; polled again ${toWait(nextRunAtMs, nowMs)}`;
  return html`<li><b>${name}</b>: ${offWords[reason ?? ''] ?? reason}${why}${next}</li>\n`;
}

function toWords(kind: string): string {
  return kind.replaceAll('_', ' ');
}
