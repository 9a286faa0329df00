import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboardJson, dashboardNames } from '../../dashboards/generate.ts';
import { annotationQueries, panelQueries } from '../../dashboards/queries.ts';
import { contractMetrics } from './contract-metrics.ts';
import { type DashboardShape, readDashboard } from './dashboard-shape.ts';
import { readPromql } from './promql.ts';

describe.each(dashboardNames)('dashboards/%s', (name) => {
  const json = dashboardJson(name);
  const { panels, templating, annotations, schemaVersion } = readDashboard(json);
  const charts = panels.filter((panel) => panel.type !== 'row');
  const queries = [...panelQueries(json), ...annotationQueries(json)];

  it('is committed as it is generated', () => {
    expect(readFileSync(new URL(`../../dashboards/${name}.json`, import.meta.url), 'utf8')).toBe(json);
  });

  it('has the schema, the first variables and the annotations of all dashboards', () => {
    expect(schemaVersion).toBe(42);
    expect(templating.list.map((variable) => variable.name).slice(0, 2)).toEqual(['datasource', 'server']);
    expect(annotations.list.map((annotation) => annotation.name)).toEqual(['Mode changes', 'Restarts']);
  });

  it.each(charts)('gives the panel "$title" a description, a unit and a query', (panel) => {
    expect(panel.description?.replace(/ ?\bEmpty .*/, '')).toMatch(/\.$/);
    expect(panel.fieldConfig?.defaults.unit).toEqual(expect.stringMatching(/./));
    expect(panel.targets?.length).toBeGreaterThan(0);
  });

  it('fills in every variable that a query holds', () => {
    expect(queries.map(({ expr }) => expr).filter((expr) => expr.includes('$'))).toEqual([]);
  });

  it('gives every panel its own id and title', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  it('fits the 24 columns of the grid without an overlap', () => {
    expect(findFaults(panels)).toEqual([]);
  });

  it.each(queries)('asks in "$panel" for what exists: $expr', ({ expr }) => {
    const { valid, metrics } = readPromql(expr);
    expect(valid).toBe(true);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !contractMetrics.has(name))).toEqual([]);
  });
});

function findFaults(panels: DashboardShape['panels']): string[] {
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
