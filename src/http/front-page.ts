import { Router } from 'express';
import { escapeHtml, renderPage } from './page.ts';

export type CollectorStatus = {
  readonly name: string;
  /** A class of the style sheet: good, bad or off. */
  readonly mood: 'good' | 'bad' | 'off';
  readonly result: string;
  readonly message: string;
  readonly ageSeconds: number | undefined;
};
export type ServerStatus = {
  readonly name: string;
  readonly url: string;
  readonly collectors: readonly CollectorStatus[];
};
export type Status = {
  readonly version: string;
  readonly metricsPath: string;
  readonly servers: readonly ServerStatus[];
};

/** `/`: how each server is doing, and where everything is. */
export function frontPageRoute(status: () => Status): Router {
  const router = Router();
  router.get('/', (_request, response) => {
    response.send(renderPage('automation-exporter', renderStatus(status())));
  });
  return router;
}

function renderStatus({ version, metricsPath, servers }: Status): string {
  const links = [
    [metricsPath, 'Metrics', 'What Prometheus scrapes'],
    ['/dashboards', 'Dashboards', 'Ready to import in Grafana'],
    ['/alerts/rules.yaml', 'Alert rules', 'Ready to load in Prometheus'],
    ['/runbooks', 'Runbooks', 'What to do when an alert fires'],
  ].map(([path, title, text]) => `<li><a href="${path}">${title}<span>${text}</span></a></li>`);
  return `<h1>Watched servers</h1>
${servers.map(renderServer).join('\n')}
<h2>Where to go</h2>
<ul class="links">${links.join('')}</ul>
<p class="note">Version ${escapeHtml(version)}</p>`;
}

function renderServer({ name, url, collectors }: ServerStatus): string {
  const rows = collectors.map(
    ({ name: collector, mood, result, message, ageSeconds }) =>
      `<tr><td><code>${escapeHtml(collector)}</code></td><td class="${mood}">${escapeHtml(result)}</td>` +
      `<td>${ageSeconds === undefined ? '' : `${Math.round(ageSeconds)} s ago`}</td><td>${escapeHtml(message)}</td></tr>`,
  );
  return `<section>
<h2>${escapeHtml(name)}</h2>
<p class="note">${escapeHtml(url)}</p>
<div class="scroll"><table>
<thead><tr><th>Collector</th><th>Last result</th><th>Last run</th><th>Why</th></tr></thead>
<tbody>${rows.join('')}</tbody>
</table></div>
</section>`;
}
