import type { Request, Router } from 'express';
import { toTime, toWait } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import { toJobPath } from '../../../domain/job.ts';
import type { Pause } from '../../../domain/pause.ts';
import type { RisksAhead } from '../../../expected-runs/risks/find-risks.ts';
import type { Skipped } from '../../../expected-runs/risks/find-skipped.ts';
import {
  isAnyAtRisk,
  isJudged,
  type RisksTonight,
  type RunsTonight,
  type ServerTonight,
  type Tonight,
  type TroubleTonight,
  toHeadline,
  toServerTonight,
} from '../../../status/tonight.ts';
import { type PageTurns, unsharedTurns } from '../../server/page-turns.ts';
import { renderPathLink, toExecutionAddress } from '../addresses.ts';
import { type Html, html, numberHead, toTable } from '../html.ts';
import { serversRoute } from '../page.ts';
import type { FindSilence } from '../silence.ts';

type TonightOptions = {
  readonly servers: () => readonly string[];
  /** Finds the risks of the next hours. Returns undefined if the schedules of the server are not watched. */
  readonly risks: (server: string, hours: number, pause: Pause) => Promise<RisksAhead | undefined>;
  /** Returns the scheduled runs of the last 12 hours that did not happen. */
  readonly skipped: (server: string, pause: Pause) => Promise<Skipped | undefined>;
  readonly silence: FindSilence;
  readonly shareByName?: PageTurns['shareByName'];
};

/** `/tonight` and `/api/tonight`: the coming runs at risk, of all servers or of one. */
export function tonightRoutes(options: TonightOptions): Router {
  const { servers, silence, risks, skipped, shareByName = unsharedTurns.shareByName } = options;
  // Each pair of horizon and server has its own result.
  const find = shareByName(async (key, pause) => {
    const [, hours = '', server = ''] = /^(\d+) (.*)$/s.exec(key) ?? [];
    const found = { risks: await risks(server, Number(hours), pause), skipped: await skipped(server, pause) };
    return toServerTonight(server, found, silence(server));
  });
  return serversRoute({
    name: 'tonight',
    servers,
    silence,
    readWish,
    answer: async (names, { hours }) => {
      const found: ServerTonight[] = [];
      for (const name of names) found.push(await find(`${hours} ${name}`));
      return { hours, servers: found };
    },
    titleOf: () => 'Tonight',
    render: renderTonight,
  });
}

function readWish(query: Request['query']): { readonly hours: number } | string {
  const hours = query['hours'] === undefined ? defaultHours : Number(query['hours']);
  return Number.isInteger(hours) && hours >= 1 && hours <= 24 ? { hours } : 'hours: is not a number from 1 to 24';
}

const defaultHours = 12;

function renderTonight(tonight: Tonight, root: string): Html {
  const [first, second] = tonight.servers;
  const isOne = first !== undefined && second === undefined;
  const of = isOne ? `&server=${encodeURIComponent(first.server.toWellFormed())}` : '';
  const isAny = isAnyAtRisk(tonight);
  const [mood, sign] = isAny === undefined ? ['off', '–'] : isAny ? ['bad', '✗'] : ['good', '✓'];
  const others = [6, 12, 24].filter((hours) => hours !== tonight.hours);
  return html`<div class="headline ${mood}"><h1><span class="sign" aria-hidden="true">${sign}</span><span>${toHeadline(tonight)}</span></h1></div>
<p class="note">Coming scheduled runs, and the known risks. <a href="${root}runbooks/AutomationRunsAtRisk">What to do</a>. Other horizons: ${others.map((hours, index) => html`${index === 0 ? '' : ', '}<a href="${root}tonight?hours=${hours}${of}">${hours} h</a>`)}.</p>
${tonight.servers.map((server) => renderServer(server, root))}`;
}

function renderServer({ server, unknown, risks, skipped }: ServerTonight, root: string): Html {
  const state =
    risks === null ? 'unknown' : risks.at_risk === 0 ? 'nothing at risk' : toCount(risks.at_risk, 'run') + ' at risk';
  const title = html`<h2><bdi>${server}</bdi> <span class="state">${state}</span></h2>\n`;
  const links = html`<p class="note"><a href="${root}windows/${encodeURIComponent(server.toWellFormed())}">When to restart <bdi>${server}</bdi></a></p>\n`;
  const why = unknown === null ? undefined : html`<p class="off">– ${unknown}.</p>\n`;
  if (risks === null) return html`<section>${title}${why}</section>\n`;
  const { troubles, troubles_left_out: leftOut, runs, runs_left_out: unlisted } = risks;
  const rest = leftOut === 0 ? undefined : html`<p class="note">and ${leftOut.toLocaleString('en')} more.</p>\n`;
  const later =
    unlisted === 0
      ? undefined
      : html`<p class="note">The lists have only the first ${runs.length} lines, by time; the headings count all runs.</p>\n`;
  const none =
    troubles.length > 0
      ? undefined
      : html`<p class="${isJudged(risks) ? 'good' : 'off'}">${isJudged(risks) ? '✓' : '–'} No run is known to be at risk.</p>\n`;
  const listed = Map.groupBy(troubles, (trouble) => listRuns(trouble, risks).length > 0);
  return html`<section>
${title}${links}${why}${renderSkipped(skipped, server, root)}${none}${listed.get(true)?.map((trouble) => renderTrouble(trouble, risks, { server, root }))}${renderFurther(listed.get(false), { server, root })}${rest}${later}${renderUnjudged(risks)}</section>
`;
}

function renderSkipped(skipped: ServerTonight['skipped'], server: string, root: string): Html | undefined {
  if (skipped === null || skipped.missed === 0) return undefined;
  const { left, sentence } = skipped;
  const link = html`<a href="${root}skipped/${encodeURIComponent(server.toWellFormed())}">Which</a>`;
  return html`<p class="${left === 0 ? 'note' : 'bad'}">${left === 0 ? '' : '✗ '}${sentence} ${link}</p>\n`;
}

type Place = { readonly server: string; readonly root: string };

function listRuns({ reason, subject }: TroubleTonight, { runs }: RisksTonight): readonly RunsTonight[] {
  return runs.filter((one) => one.reasons[0] === reason && one.subject === subject);
}

function renderTrouble(trouble: TroubleTonight, risks: RisksTonight, place: Place): Html {
  const own = listRuns(trouble, risks);
  const more = own.length - maxShown;
  const rest = more > 0 ? html`<p class="note">and ${toCount(more, 'more job')}.</p>\n` : undefined;
  return html`<h3>${trouble.sentence}</h3>
<p class="note">Evidence: ${renderEvidence(trouble, place)}.</p>
${toTable(
  ['Job', 'First', numberHead('Runs'), 'Also'],
  own.slice(0, maxShown).map((runs) => renderRuns(runs, Date.parse(risks.now), place)),
)}${rest}`;
}

/** Renders trouble whose runs are all listed under worse trouble. */
function renderFurther(troubles: readonly TroubleTonight[] | undefined, place: Place): Html | undefined {
  if (troubles === undefined) return undefined;
  return html`<h3>Further risks of these runs</h3>
<ul>${troubles.map((trouble) => html`<li>${trouble.sentence}. <span class="soft">Evidence: ${renderEvidence(trouble, place)}.</span></li>\n`)}</ul>
`;
}

function renderEvidence({ evidence, execution }: TroubleTonight, { server, root }: Place): Html {
  const [before, after] = execution === null ? [] : evidence.split(`#${execution}`);
  if (execution === null || after === undefined) return html`${evidence}`;
  return html`${before}<a href="${root}${toExecutionAddress(server, execution)}">#${execution}</a>${after}`;
}

const maxShown = 50;

function renderRuns(runs: RunsTonight, nowMs: number, { server, root }: Place): Html {
  const [, ...also] = runs.reasons;
  const firstMs = Date.parse(runs.first);
  const critical = runs.critical ? html` <strong class="bad">critical</strong>` : undefined;
  return html`<tr><th scope="row" class="job">${renderPathLink(server, toJobPath(runs), root)}${critical}</th><td data-is="First" class="brief">${toTime(firstMs, nowMs)}, ${toWait(firstMs, nowMs)}</td><td data-is="Runs" class="number">${runs.count.toLocaleString('en')}</td><td data-is="Also" class="${also.length === 0 ? 'none' : ''}">${also.map((reason) => reason.replaceAll('_', ' ')).join(', ')}</td></tr>
`;
}

function renderUnjudged({
  not_judged: { runs, jobs_without_times: jobs, of_projects_off: off },
}: RisksTonight): Html | undefined {
  const parts = [
    ...(runs === 0 ? [] : [`${toCount(runs, 'run')} of jobs whose past runs or nodes are unknown`]),
    ...(jobs === 0
      ? []
      : [
          `${toCount(jobs, 'job')} whose scheduled times are not all known${off === 0 ? '' : `, ${off} of them in projects that are switched off`}`,
        ]),
  ];
  return parts.length === 0 ? undefined : html`<p class="note">Not checked: ${parts.join('; ')}.</p>\n`;
}
