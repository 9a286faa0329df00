import type { Router } from 'express';
import { toTime } from '../../../domain/ages.ts';
import { toJobPath } from '../../../domain/job-path.ts';
import type { Verdict } from '../../../expected-runs/deciding/watched-job.ts';
import type { Why } from '../../../expected-runs/deciding/why.ts';
import type { ScheduledJob } from '../../../expected-runs/expected-runs.ts';
import { createRoutes } from '../../server/routes.ts';
import { type Html, html } from '../html.ts';
import { renderPage, toRoot } from '../page.ts';
import { renderVerdict } from './verdict-strip.ts';

export type JobPageOptions = {
  /** The first watched job with a path as `{project}/{group}/{name}`, and why it ran or not. */
  readonly find: (server: string, path: string) => { readonly job: ScheduledJob; readonly why: Why } | undefined;
  readonly nowMs: () => number;
};

/** `/jobs/{server}/{project}/{group}/{name}`: why a scheduled job ran or not, and what became of its last times. */
export function jobPageRoute({ find, nowMs }: JobPageOptions): Router {
  const router = createRoutes();
  router.get('/jobs/:server/*path', (request, response, next) => {
    const { server, path } = request.params;
    const found = find(server, path.join('/'));
    if (found === undefined) {
      next();
      return;
    }
    const title = `${toJobPath(found.job)} on ${server}`;
    const body = renderJob(found.job, found.why, { title, root: toRoot(request), nowMs: nowMs() });
    response.set('cache-control', 'no-store').send(renderPage({ title, body, path: request.path }));
  });
  return router;
}

type About = { readonly title: string; readonly root: string; readonly nowMs: number };

function renderJob({ server, verdicts }: ScheduledJob, { sentence, facts }: Why, { title, root, nowMs }: About): Html {
  const lines = facts.map(
    ({ fact, at, source }) =>
      html`<li>${fact} (<time datetime="${at}">${toTime(Date.parse(at), nowMs)}</time>, ${source})</li>\n`,
  );
  const toRun = (id: number): string => `${root}executions/${encodeURIComponent(server.toWellFormed())}/${id}`;
  return html`<h1><bdi>${title}</bdi></h1>
<p>${sentence}</p>
${lines.length === 0 ? undefined : html`<ul>${lines}</ul>\n`}<section>
<h2>Last expected times</h2>
${verdicts.length === 0 ? html`<p>None is decided yet.</p>\n` : renderTimes(verdicts, toRun, nowMs)}</section>
<p><a href="${root}jobs">All scheduled jobs</a></p>
`;
}

function renderTimes(verdicts: readonly Verdict[], toRun: (id: number) => string, nowMs: number): Html {
  return html`<table>
<thead><tr><th>Expected</th><th>What became of it</th></tr></thead>
<tbody>${verdicts
    .toReversed()
    .map(
      (verdict) =>
        html`<tr><th scope="row" class="brief">${toTime(verdict.expectedMs, nowMs)}</th><td data-is="What became of it">${renderVerdict(verdict, toRun)}</td></tr>\n`,
    )}</tbody>
</table>
`;
}
