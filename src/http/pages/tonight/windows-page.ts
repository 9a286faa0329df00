import type { Request, Router } from 'express';
import { toCount } from '../../../domain/format.ts';
import { toJobPath } from '../../../domain/job.ts';
import type { Pause } from '../../../domain/pause.ts';
import type { WindowsAhead } from '../../../expected-runs/ahead.ts';
import type { WindowWish } from '../../../expected-runs/risks/find-windows.ts';
import { toWindows, type Windows, type WindowText } from '../../../status/windows.ts';
import { renderPathLink } from '../addresses.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { serverRoute } from '../page.ts';
import type { FindSilence } from '../silence.ts';

type WindowsOptions = {
  readonly servers: () => readonly string[];
  /** Returns undefined if the schedules of the server are not watched. */
  readonly find: (server: string, wish: WindowWish, pause: Pause) => Promise<WindowsAhead | undefined>;
  readonly silence: FindSilence;
  readonly begin: () => Pause;
};

/** `/windows/{server}` and `/api/windows`: the best times to restart a server. */
export function windowsRoutes({ servers, find, silence, begin }: WindowsOptions): Router {
  return serverRoute({
    name: 'windows',
    servers,
    silence,
    readWish,
    answer: async (server, wish) =>
      toWindows(server, wish, { found: await find(server, wish, begin()), silence: silence(server) }),
    titleOf: (server) => `When to restart ${server}`,
    render: renderWindows,
  });
}

/** Returns the parameters in the query, or a text about a mistake in it. */
function readWish(query: Request['query']): WindowWish | string {
  const forMs = toMs(query['for'] ?? '30m');
  const withinMs = toMs(query['within'] ?? '24h');
  const count = Number(query['count'] ?? 3);
  if (forMs === undefined) return 'for: is not a duration from 1m to 24h, such as 30m or 2h';
  if (withinMs === undefined) return 'within: is not a duration from 1m to 24h, such as 30m or 2h';
  if (!Number.isInteger(count) || count < 1 || count > 20) return 'count: is not a number from 1 to 20';
  return { forMs, withinMs, count };
}

function toMs(text: unknown): number | undefined {
  const [, digits, unit] = /^(\d{1,4})(m|h)$/.exec(String(text)) ?? [];
  const ms = Number(digits) * (unit === 'h' ? hourMs : minuteMs);
  return ms >= minuteMs && ms <= 24 * hourMs ? ms : undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function renderWindows(found: Windows, root: string): Html {
  const { server, windows, for_minutes: minutes, within_minutes: within, sentence, unknown } = found;
  const [best] = windows;
  const [mood, sign] =
    best === undefined
      ? ['off', '–']
      : unknown === null && best.runs + best.jobs_without_times + best.jobs_without_durations === 0
        ? ['good', '✓']
        : ['off', '!'];
  const headline = best === undefined ? sentence : html`Best time to restart <bdi>${server}</bdi>: ${best.sentence}`;
  const why = unknown === null ? undefined : html`<p class="off">– ${unknown}.</p>\n`;
  const choices = ['15m', '30m', '1h', '2h'].map(
    (one, index) => html`${index === 0 ? '' : ', '}<a href="?for=${one}">${one}</a>`,
  );
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${sign}</span><span>${headline}</span></h1>
<p>${best === undefined ? '' : sentence}</p></div>
${why}<p class="note">Windows of ${minutes} min within the next ${within % 60 === 0 ? `${within / 60} h` : `${within} min`}. Windows in which a restart affects the fewest critical runs come first, then those with the fewest runs, then the earliest. Manual runs are not included. Other lengths: ${choices}.</p>
${windows.map((window) => renderWindow(window, { server, root }))}${renderUnknown(found)}`;
}

function renderWindow(window: WindowText, { server, root }: { readonly server: string; readonly root: string }): Html {
  const { touches, touches_left_out: leftOut, runs, sentence } = window;
  const rows = touches.map(
    (one) =>
      html`<tr><th scope="row" class="job">${one.name === '' ? html`<bdi>${one.project}</bdi> (ad hoc)` : renderPathLink(server, toJobPath(one), root)}${one.critical ? html` <strong class="bad">critical</strong>` : undefined}</th><td data-is="Runs" class="number">${one.count}</td></tr>\n`,
  );
  const more = leftOut === 0 ? undefined : html`<p class="note">and ${toCount(leftOut, 'more job')}.</p>\n`;
  const table = runs === 0 ? undefined : toTable(['Affected job', numberHead('Runs')], rows);
  return html`<section>
<h2>${sentence}</h2>
${table}${more}</section>
`;
}

function renderUnknown({ not_known: { jobs_without_times: times, jobs_without_durations: durations } }: Windows) {
  const parts = [
    ...(times === 0 ? [] : [`the times of ${toCount(times, 'job')}`]),
    ...(durations === 0 ? [] : [`the duration of ${toCount(durations, 'job')}, so only their starts are included`]),
  ];
  return parts.length === 0 ? undefined : html`<p class="note">Unknown: ${parts.join('; ')}.</p>\n`;
}
