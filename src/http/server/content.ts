import { readdirSync, readFileSync } from 'node:fs';
import { toPackageFolder } from '../../domain/package-folder.ts';

/** The files that ship with the exporter, by name. All files are read once, so that a request cannot reach other files. */
export type Content = {
  readonly dashboards: ReadonlyMap<string, string>;
  readonly runbooks: ReadonlyMap<string, string>;
  readonly rules: string;
  readonly inhibitions: string;
  /** Recording rules with the names of another exporter. */
  readonly migrationRules: string;
};

/** The URL of the exporter in the shipped rules and dashboards. */
const placeholderUrl = 'http://localhost:9720';
const placeholderGrafanaUrl = 'http://localhost:3000';

export function linkTo(externalUrl: string, text: string): string {
  // A function is used, because `$` is special in a replacement text.
  return text.replaceAll(placeholderUrl, () => externalUrl);
}

/** Returns the shipped rules with links to this exporter and Grafana. Without a Grafana URL, links to dashboards are removed. */
export function toServedRules(rules: string, externalUrl: string, grafanaUrl: string | undefined): string {
  const linked = linkTo(externalUrl, rules);
  if (grafanaUrl === undefined) return linked.replaceAll(/^ *dashboard_url: .*\n/gm, '');
  return linked.replaceAll(placeholderGrafanaUrl, () => grafanaUrl.replace(/\/$/, ''));
}

export function readContent(): Content {
  const root = toPackageFolder();
  return {
    dashboards: readFolder(new URL('dashboards/', root), '.json'),
    runbooks: readFolder(new URL('alerts/runbooks/', root), '.md'),
    rules: readFileSync(new URL('alerts/rules.yaml', root), 'utf8'),
    migrationRules: readFileSync(new URL('alerts/migration-rules.yaml', root), 'utf8'),
    inhibitions: readFileSync(new URL('alerts/alertmanager-inhibitions.yaml', root), 'utf8'),
  };
}

function readFolder(folder: URL, ending: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder).filter((file) => file.endsWith(ending));
  return new Map(files.map((file) => [file.slice(0, -ending.length), readFileSync(new URL(file, folder), 'utf8')]));
}
