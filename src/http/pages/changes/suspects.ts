import type { Explanation } from '../../../diagnosis/changes/explain.ts';
import { toTime } from '../../../domain/ages.ts';
import { toCount } from '../../../domain/format.ts';
import { toCauseTexts } from '../../../status/shared-cause.ts';
import { type Html, html } from '../html.ts';
import { toQuery } from '../list.ts';
import { renderWhen } from './changes-page.ts';

type About = {
  readonly server: string;
  readonly untilMs: number;
  readonly words: Words;
  readonly root: string;
  readonly nowMs: number;
};

type Words = { readonly title: string; readonly from: string; readonly to: string };

export const ofFailure: Words = { title: 'What changed', from: 'the start of the last success', to: 'this failure' };
export const ofDurations: Words = {
  title: 'What changed when the durations changed',
  from: 'the end of the last usual run',
  to: 'the end of the first unusual one',
};

/** Renders the changes between two runs of a job, such as its last success and its failure, and the common cause of failures. */
export function renderSuspects(explanation: Explanation | undefined, about: About): Html | undefined {
  if (explanation === undefined) return undefined;
  return html`${renderChanges(explanation, about)}${renderShared(explanation)}`;
}

function renderShared({ commonCause }: Explanation): Html | undefined {
  if (commonCause === undefined) return undefined;
  const { text, detail } = toCauseTexts(commonCause);
  return html`<section class="suspects">
<h2>Shared cause</h2>
<p><bdi>${text}.</bdi> ${detail}.</p>
</section>
`;
}

function renderChanges(explanation: Explanation, about: About): Html {
  const { successMs, suspects, unchanged, notWatched } = explanation;
  const { server, untilMs, words, root, nowMs } = about;
  if (successMs === undefined)
    return html`<section class="suspects">
<h2>${words.title}</h2>
<p>No earlier success of this job is known, so there is nothing to compare with.</p>
${suspects.length === 0 ? undefined : renderList(explanation, about)}</section>
`;
  // The start of the span is cut to seconds, because the server cuts its times. The span includes the start of the run, because
  // a change of the run itself, such as other nodes, has this time.
  const since = new Date(Math.floor(successMs / 1000) * 1000).toISOString();
  const until = new Date(untilMs + 1).toISOString();
  const none = unchanged.length === 0 ? 'Unknown: nothing was watched continuously' : 'No visible change';
  const title = suspects.length === 0 ? none : toCount(suspects.length, 'change');
  const rest = notWatched.map(({ what, reason }) => html`<li><bdi>${what}</bdi>: ${reason}</li>\n`);
  return html`<section class="suspects">
<h2>${words.title}</h2>
<p>${title} between ${words.from} (${toTime(successMs, nowMs)}) and ${words.to} (${toTime(untilMs, nowMs)})${
    suspects.length === 0 ? '.' : ', likeliest first:'
  }</p>
${suspects.length === 0 ? undefined : renderList(explanation, about)}${
  unchanged.length === 0 ? undefined : html`<p class="note">Unchanged: ${unchanged.join(', ')}.</p>\n`
}${rest.length === 0 ? undefined : html`<details><summary>${toCount(rest.length, 'thing')} not watched continuously</summary>\n<ul>${rest}</ul>\n</details>\n`}<p class="note"><a href="${root}changes${toQuery({ server, since, until })}">All changes between these times</a></p>
</section>
`;
}

const places = {
  job: 'of this job',
  child: 'of a job that it runs',
  node: 'of a node that failed',
  project: 'of its project',
  server: 'of the server',
} as const;

function renderList({ suspects }: Explanation, { untilMs, nowMs }: About): Html {
  const items = suspects.map(({ kind, scope, subject, what, by, fits, ...times }) => {
    const name = subject === '' ? 'the server' : subject;
    const text = html`<bdi>${kind} ${name}</bdi>: <bdi>${what}</bdi>${by === undefined ? undefined : html` by <bdi>${by}</bdi>`}`;
    return html`<li>${fits ? html`<strong>${text}</strong>` : text}, ${renderWhen(times, nowMs)} <span class="soft">(${places[scope]}${(times.atMs ?? times.afterMs) > untilMs ? ', as it ended' : ''}${fits ? ', fits the failure' : ''})</span></li>\n`;
  });
  return html`<ol>${items}</ol>\n`;
}
