import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { buildRules } from '../../alerts/generate.ts';
import { dashboardJson, dashboardNames, exportJson } from '../../dashboards/generate.ts';
import { labelsOf } from './contract-metrics.ts';
import { readDashboard } from './dashboard-shape.ts';
import { readPromql } from './promql.ts';

type Ref = { readonly type: string; readonly uid: string };
type Variable = { readonly name: string; readonly query?: { readonly query: string }; readonly definition?: string };
type Annotation = {
  readonly name: string;
  readonly expr: string;
  readonly textFormat: string;
  readonly tagKeys: string;
};

const forms = dashboardNames.flatMap((name) => [
  { name, form: 'provisioned', json: dashboardJson(name), builtIn: [] as readonly string[] },
  { name, form: 'grafana.com', json: exportJson(name), builtIn: ['DS_PROMETHEUS'] },
]);

/** Variables that Grafana has in every dashboard. */
const everywhere = [
  '__all',
  '__rate_interval',
  '__interval',
  '__range',
  '__url_time_range',
  '__field',
  '__data',
  '__value',
];

describe('dashboards, as Grafana loads them', () => {
  it('keeps the unique uids of dashboards, which links of users contain', () => {
    expect(dashboardNames.map((name) => readDashboard(dashboardJson(name)).uid)).toEqual([
      'automation-overview',
      'automation-executions',
      'automation-schedule',
      'automation-job',
      'automation-server',
      'automation-log-storage',
      'automation-exporter',
    ]);
    for (const { name, json } of forms) expect(readDashboard(json).uid).toBe(`automation-${name}`);
  });

  it.each(forms)('$name ($form) links only to existing dashboards', ({ json, form }) => {
    const links = listTexts(JSON.parse(json), 'url').filter((url) => url.startsWith('/d/'));
    expect(links.length).toBeGreaterThan(0);
    expect(links.flatMap((link) => listFaults(link))).toEqual([]);
    expect(links.filter((link) => link.includes('datasource')).length).toBe(form === 'provisioned' ? links.length : 0);
  });

  it.each(forms)('$name ($form) uses only its own variables', ({ json, builtIn }) => {
    const variables = variablesOf(json);
    const known = new Set([...everywhere, ...builtIn, ...variables.map(({ name }) => name)]);
    expect([...new Set(toUsed(json))].filter((name) => !known.has(name))).toEqual([]);
    for (const [index, { definition = '' }] of variables.entries()) {
      const before = variables.slice(0, index).map(({ name }) => name);
      expect(toUsed(definition).filter((name) => !before.includes(name))).toEqual([]);
    }
  });

  it.each(forms)('$name ($form) fills its variables from labels of existing series', ({ json }) => {
    for (const { query, definition } of variablesOf(json).filter((variable) => variable.query?.query !== undefined)) {
      expect(query?.query).toBe(definition);
      const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition ?? '') ?? [];
      const { valid, selectors } = readPromql(series);
      expect({ series, valid, known: labelsOf.get(selectors[0]?.metric ?? '')?.has(label) }).toEqual({
        series,
        valid: true,
        known: true,
      });
    }
  });

  it.each(forms)('$name ($form) queries one Prometheus, which the reader selects', ({ json, form }) => {
    const uid = form === 'provisioned' ? '$datasource' : `\${DS_PROMETHEUS}`;
    const refs = listValues(JSON.parse(json), 'datasource') as readonly Ref[];
    expect(refs.length).toBeGreaterThan(10);
    expect(refs.filter((ref) => ref.type !== 'prometheus' || ref.uid !== uid)).toEqual([]);
  });

  it.each(forms)('$name ($form) annotates events with labels that their queries return', ({ json }) => {
    // The cast has only the fields that are used.
    const { annotations } = JSON.parse(json) as { readonly annotations: { readonly list: readonly Annotation[] } };
    for (const { name, expr, textFormat, tagKeys } of annotations.list) {
      const { valid, grouping } = readPromql(expr.replaceAll('$__rate_interval', '1m').replaceAll('$server', '.*'));
      const labels = [
        ...tagKeys.split(','),
        ...[...textFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
      ];
      expect({ name, valid, missing: labels.filter((label) => !grouping.includes(label)) }).toEqual({
        name,
        valid: true,
        missing: [],
      });
    }
  });

  it('opens every dashboard that an alert links', () => {
    const links = [...buildRules().matchAll(/dashboard_url: "?http:\/\/localhost:3000(.*?)"?$/gm)].map(
      ([, link = '']) => link,
    );
    expect(links.length).toBeGreaterThan(30);
    expect(links.flatMap((link) => listFaults(link))).toEqual([]);
  });

  it('shows two forms of a dashboard that differ only in the data source', () => {
    for (const name of dashboardNames) {
      const provisioned = JSON.parse(dashboardJson(name)) as { readonly panels: unknown };
      const exported = JSON.parse(exportJson(name)) as { readonly panels: unknown };
      const back = JSON.stringify(exported.panels).replaceAll(`\${DS_PROMETHEUS}`, '$datasource');
      expect(back).toBe(JSON.stringify(provisioned.panels).replaceAll(`&\${datasource:queryparam}`, ''));
    }
  });
});

describe('deploy/grafana', () => {
  const readYaml = (path: string): unknown => parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));

  it("gives Grafana each dashboard once, in its provider's folder", () => {
    // These casts have only the fields that are used.
    const { apiVersion, providers } = readYaml('deploy/grafana/provisioning/dashboards/automation.yaml') as {
      readonly apiVersion: number;
      readonly providers: readonly { readonly type: string; readonly options: { readonly path: string } }[];
    };
    expect([apiVersion, ...providers.map(({ type }) => type)]).toEqual([1, 'file']);
    const { services } = readYaml('deploy/compose/compose.yaml') as {
      readonly services: { readonly grafana: { readonly volumes: readonly string[] } };
    };
    const folder = `${providers[0]?.options.path}/`;
    const mounted = services.grafana.volumes.filter((volume) => volume.includes(folder));
    expect(mounted.toSorted()).toEqual(
      [...dashboardNames, 'traces'].map((name) => `../../dashboards/${name}.json:${folder}${name}.json:ro`).toSorted(),
    );
  });

  it('gives Grafana the data sources of the dashboards', () => {
    const { apiVersion, datasources } = readYaml('deploy/grafana/provisioning/datasources/prometheus.yaml') as {
      readonly apiVersion: number;
      readonly datasources: readonly { readonly uid: string; readonly type: string; readonly isDefault?: boolean }[];
    };
    expect(apiVersion).toBe(1);
    expect(datasources.map(({ uid, type, isDefault = false }) => [uid, type, isDefault])).toEqual([
      ['automation-prometheus', 'prometheus', true],
      ['automation-traces', 'tempo', false],
    ]);
  });
});

/** Returns the faults of a link to a dashboard, in its target or in the variables that it sets. */
function listFaults(link: string): string[] {
  const [, uid = '', query = ''] = /^\/d\/([\w-]+)(?:\?(.*))?$/.exec(link) ?? [];
  const target = dashboardNames.find((name) => `automation-${name}` === uid);
  if (target === undefined) return [`there is no ${link}`];
  const known = new Set(variablesOf(dashboardJson(target)).map(({ name }) => name));
  return [...query.matchAll(/var-(\w+)=/g)].flatMap(([, name = '']) =>
    known.has(name) ? [] : [`${uid} has no variable ${name}`],
  );
}

function variablesOf(json: string): readonly Variable[] {
  // The cast has only the fields that are used.
  const { templating } = JSON.parse(json) as { readonly templating: { readonly list: readonly Variable[] } };
  return templating.list;
}

function toUsed(text: string): string[] {
  return [...text.matchAll(/\$\{?([A-Za-z_]+)/g)].map(([, name = '']) => name);
}

/** The values of a key, however deep they are. */
function listValues(part: unknown, key: string): unknown[] {
  if (typeof part !== 'object' || part === null) return [];
  // This cast is safe: nothing is known of the values.
  const entries = Object.entries(part) as readonly (readonly [string, unknown])[];
  return entries.flatMap(([name, value]) => [...(name === key ? [value] : []), ...listValues(value, key)]);
}

function listTexts(part: unknown, key: string): string[] {
  return listValues(part, key).filter((value) => typeof value === 'string');
}
