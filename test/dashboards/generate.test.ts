import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboardJson, dashboardNames, exportJson } from '../../dashboards/generate.ts';
import { annotationQueries, panelQueries } from '../../dashboards/queries.ts';
import { contractMetrics } from './contract-metrics.ts';
import { listPanels, type Panel, readDashboard } from './dashboard-shape.ts';
import { readPromql } from './promql.ts';

describe('dashboards', () => {
  it('shows no negative age and no negative wait for any clocks', () => {
    const all = dashboardNames.flatMap((name) => panelQueries(dashboardJson(name)).map(({ expr }) => expr));
    const unclamped = (expr: string): boolean =>
      /(?<!clamp_min\()\btime\(\) - /.test(expr) || (expr.includes('- time()') && !expr.includes('clamp_min('));
    expect(all.filter(unclamped)).toEqual([]);
  });
});

describe.each(dashboardNames)('dashboards/%s', (name) => {
  const json = dashboardJson(name);
  const dashboard = readDashboard(json);
  const { templating, annotations, schemaVersion } = dashboard;
  const panels = listPanels(dashboard);
  const charts = panels.filter((panel) => panel.type !== 'row');
  const queries = [...panelQueries(json), ...annotationQueries(json)];

  it('matches the committed file', () => {
    expect(readFileSync(new URL(`../../dashboards/${name}.json`, import.meta.url), 'utf8')).toBe(json);
  });

  it('has the schema, the first variables and the annotations of all dashboards', () => {
    expect(schemaVersion).toBe(38);
    expect(templating.list.map((variable) => variable.name).slice(0, 3)).toEqual(['datasource', 'cluster', 'server']);
    expect(annotations.list.map((annotation) => annotation.name)).toEqual([
      'Mode changes',
      'Restarts',
      'Reloads',
      'Missed runs',
    ]);
    expect(dashboard.uid).toBe(`automation-${name}`);
  });

  it('has at most thirty panels', () => {
    expect(charts.length).toBeGreaterThanOrEqual(12);
    expect(charts.length).toBeLessThanOrEqual(30);
    const rows = dashboard.panels.filter((panel) => panel.type === 'row');
    expect(rows.map((row) => row.collapsed === true)).toEqual(rows.map((_, index) => index > 0));
    const below = dashboard.panels.filter((panel) => panel.type !== 'row').map(({ gridPos }) => gridPos.y + gridPos.h);
    expect(Math.max(...below)).toBeLessThanOrEqual(34);
  });

  it('links to details from every panel whose series have a server', () => {
    const mute = charts.filter(
      ({ targets = [], fieldConfig }) =>
        targets.some(({ expr }) => /\bby \([^)]*\bserver\b/.test(expr)) &&
        (fieldConfig?.defaults.links ?? []).length === 0 &&
        !(fieldConfig?.overrides ?? []).some(({ properties }) => properties.some(({ id }) => id === 'links')),
    );
    expect(mute.map(({ title }) => title)).toEqual([]);
  });

  it('has a form for grafana.com', () => {
    const exported = exportJson(name);
    expect(exported).not.toMatch(/\$\{?datasource/);
    // The cast has only the fields that are used.
    const { __inputs: inputs, templating: variables } = JSON.parse(exported) as {
      readonly __inputs: readonly { readonly name: string; readonly pluginId: string }[];
      readonly templating: { readonly list: readonly { readonly name: string }[] };
    };
    expect(inputs.map(({ name: input, pluginId }) => [input, pluginId])).toEqual([['DS_PROMETHEUS', 'prometheus']]);
    expect(variables.list.map((variable) => variable.name)[0]).toBe('cluster');
  });

  it.each(charts)('gives the panel "$title" a description, a unit and a query', (panel) => {
    expect(panel.description?.replace(/ ?\bEmpty .*/, '')).toMatch(/\.$/);
    expect(panel.fieldConfig?.defaults.unit).toEqual(expect.stringMatching(/./));
    // No series has any of these units.
    expect(panel.fieldConfig?.defaults.unit).not.toMatch(/^(ns|µs|ms|m|h|d|kbytes|mbytes|percent)$/);
    expect(panel.targets?.length).toBeGreaterThan(0);
  });

  it('counts events in whole numbers, although Prometheus extrapolates', () => {
    const counts = charts.filter(({ fieldConfig }) => fieldConfig?.defaults.unit === 'short');
    const shown = counts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.split('\nand on ')[0] ?? ''));
    expect(shown.filter((expr) => /\bincrease\(/.test(expr) && !/\bround\(/.test(expr))).toEqual([]);
  });

  it('fills in every variable of a query', () => {
    expect(queries.map(({ expr }) => expr).filter((expr) => expr.includes('$'))).toEqual([]);
  });

  it('gives every panel its own id and title', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  it('fits the 24 columns of the grid without an overlap', () => {
    expect(findFaults(dashboard.panels)).toEqual([]);
    for (const { panels: inner = [] } of dashboard.panels) expect(findFaults(inner)).toEqual([]);
  });

  it.each(queries)('uses only existing series and labels in "$panel": $expr', ({ expr }) => {
    const { valid, metrics } = readPromql(expr);
    expect(valid).toBe(true);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !contractMetrics.has(name))).toEqual([]);
  });
});

function findFaults(panels: readonly Panel[]): string[] {
  const taken = new Map<string, string>();
  const faults: string[] = [];
  for (const { title, gridPos } of panels) {
    if (gridPos.x < 0 || gridPos.x + gridPos.w > 24) faults.push(`${title} leaves the grid`);
    for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        const other = taken.get(`${x}/${y}`);
        if (other !== undefined) faults.push(`${title} covers ${other}`);
        taken.set(`${x}/${y}`, title);
      }
    }
  }
  return faults;
}
