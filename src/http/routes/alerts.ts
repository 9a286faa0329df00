import type { Router } from 'express';
import { type Content, toServedRules } from '../server/content.ts';
import { createRoutes } from '../server/routes.ts';

export type AlertRoutes = {
  readonly content: Pick<Content, 'rules' | 'inhibitions'>;
  /** The configured address of this daemon; without it, that of the request. */
  readonly externalUrl: () => string | undefined;
  /** The address that the daemon believes to have, for requests that name none. */
  readonly ownUrl: () => string;
  readonly grafanaUrl: () => string | undefined;
};

/** The alert rules, their links pointing to this daemon, and what silences consequences in Alertmanager. */
export function alertRoutes({ content, externalUrl, ownUrl, grafanaUrl }: AlertRoutes): Router {
  const router = createRoutes();
  router.get('/alerts/rules.yaml', ({ headers, protocol }, response) => {
    const configured = externalUrl();
    const asked = configured ?? toAskedUrl(protocol, headers.host, ownUrl());
    const url = (asked ?? ownUrl()).replace(/\/$/, '');
    const source =
      configured === undefined
        ? `${asked ? 'the Host of this request' : 'the listen address'}; web.external_url is not set`
        : 'web.external_url';
    const grafana = grafanaUrl() ?? 'nowhere: web.grafana_url is not set, so that alerts have no dashboard_url';
    const header = `# Links lead to ${url} (${source}).\n# Links to dashboards lead to ${grafana}.\n`;
    response.type('text/yaml').send(header + toServedRules(content.rules, url, grafanaUrl()));
  });
  router.get('/alerts/alertmanager-inhibitions.yaml', (_request, response) => {
    response.type('text/yaml').send(content.inhibitions);
  });
  return router;
}

/** The address under which somebody asked, below the same path; undefined if the Host header is not one. */
function toAskedUrl(protocol: string, host: string | undefined, ownUrl: string): string | undefined {
  if (host === undefined || !/^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host)) return undefined;
  return `${protocol}://${host}${new URL(ownUrl).pathname}`;
}
