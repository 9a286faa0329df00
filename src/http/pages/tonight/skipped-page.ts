import type { Request, Router } from 'express';
import { toScheduled } from '../../../domain/ages.ts';
import { toJobPath } from '../../../domain/job.ts';
import type { Pause } from '../../../domain/pause.ts';
import { parseDate } from '../../../domain/time.ts';
import type { Skipped } from '../../../expected-runs/risks/find-skipped.ts';
import { isAnyLeft, type SkippedStatus, type SkippedText, toSkippedStatus } from '../../../status/skipped.ts';
import { renderPathLink, toExecutionAddress } from '../addresses.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { serverRoute } from '../page.ts';
import type { FindSilence } from '../silence.ts';

/** The start and the end of an interval, each as a time or as an age. */
export type SkippedWish = { readonly since: TimeOrAge; readonly until: TimeOrAge };
export type TimeOrAge = { readonly atMs: number } | { readonly agoMs: number };

type SkippedOptions = {
  readonly servers: () => readonly string[];
  /** Returns undefined if the schedules of the server are not watched. */
  readonly find: (server: string, wish: SkippedWish, pause: Pause) => Promise<Skipped | undefined>;
  readonly urlOf: (server: string) => string;
  readonly silence: FindSilence;
  readonly begin: () => Pause;
};

/** `/skipped/{server}` and `/api/skipped`: the scheduled runs that did not happen, and whether later runs recovered them. */
export function skippedRoutes({ servers, find, urlOf, silence, begin }: SkippedOptions): Router {
  return serverRoute({
    name: 'skipped',
    servers,
    silence,
    readWish,
    answer: async (server, wish) => {
      const skipped = await find(server, wish, begin());
      return toSkippedStatus(server, { skipped, silence: silence(server), serverUrl: urlOf(server) });
    },
    titleOf: (server) => `Skipped on ${server}`,
    render: renderSkipped,
  });
}

/** Returns the interval, or a text about a mistake in the query. */
function readWish(query: Request['query']): SkippedWish | string {
  const since = toTimeOrAge(query['since'] ?? '12h');
  const until = toTimeOrAge(query['until'] ?? '0m');
  if (since === undefined) return `since: ${wanted}`;
  return until === undefined ? `until: ${wanted}` : { since, until };
}

const wanted = 'is neither a time, such as 2026-11-22T18:00:00Z, nor how long ago, such as 12h, up to 7d';

function toTimeOrAge(text: unknown): TimeOrAge | undefined {
  const [, digits, unit] = /^(\d{1,5})([mhd])$/.exec(String(text)) ?? [];
  if (digits !== undefined) {
    const agoMs = Number(digits) * (unit === 'd' ? dayMs : unit === 'h' ? hourMs : 60_000);
    return agoMs <= 7 * dayMs ? { agoMs } : undefined;
  }
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(String(text));
  const atMs = isTime ? parseDate(String(text)) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : { atMs };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function renderSkipped(status: SkippedStatus, root: string): Html {
  const { server, unknown, sentence, runs, runs_left_out: leftOut } = status;
  const isAny = isAnyLeft(status);
  const [mood, sign] = isAny === undefined ? ['off', '–'] : isAny ? ['bad', '✗'] : ['good', '✓'];
  const why = unknown === null ? undefined : html`<p class="off">– ${unknown}.</p>\n`;
  const nowMs = Date.parse(status.until ?? '');
  const choices = ['6h', '12h', '1d', '7d'].map(
    (one, index) => html`${index === 0 ? '' : ', '}<a href="?since=${one}">${one}</a>`,
  );
  const rows = runs.map((run) => renderRuns(run, { server, root, nowMs }));
  const more = leftOut === 0 ? undefined : html`<p class="note">and ${leftOut.toLocaleString('en')} more.</p>\n`;
  const table =
    runs.length === 0
      ? undefined
      : html`<section>
${toTable(['Job', 'Skipped', numberHead('Runs'), 'Cause', 'Recovered'], rows)}${more}</section>
`;
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${sign}</span><span>${sentence}</span></h1></div>
${why}<p class="note">Scheduled runs of <bdi>${server}</bdi> that did not happen; runs to start by hand come first. A skipped run is recovered by the first successful run of its job that started later. Since: ${choices}.</p>
${table}`;
}

type About = { readonly server: string; readonly root: string; readonly nowMs: number };

function renderRuns(run: SkippedText, { server, root, nowMs }: About): Html {
  const { first, last, count, reason, evidence, recovered, running, url, critical } = run;
  const until = count === 1 ? '' : ` to ${toScheduled(Date.parse(last), nowMs)}`;
  const later = recovered ?? running;
  const said =
    later === null
      ? url === null
        ? 'the server no longer lists the job as scheduled'
        : html`<a href="${url}">run the job on the server</a>`
      : later.execution === null
        ? later.sentence
        : html`<a href="${root}${toExecutionAddress(server, later.execution)}">${later.sentence}</a>`;
  const good = recovered === null ? html`<strong class="bad">✗ not yet</strong> ${said}` : said;
  return html`<tr><th scope="row" class="job">${renderPathLink(server, toJobPath(run), root)}${critical ? html` <strong class="bad">critical</strong>` : undefined}</th><td data-is="Skipped" class="brief">${toScheduled(Date.parse(first), nowMs)}${until}</td><td data-is="Runs" class="number">${count.toLocaleString('en')}</td><td data-is="Cause">${reason.replaceAll('_', ' ')}${evidence === null ? '' : `: ${evidence}`}</td><td data-is="Recovered">${good}</td></tr>
`;
}
