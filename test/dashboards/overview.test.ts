import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboardJson } from '../../dashboards/generate.ts';
import { annotationQueries, panelQueries } from '../../dashboards/queries.ts';
import { contractMetrics } from './contract-metrics.ts';
import { readPromql } from './promql.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

const json = dashboardJson('overview');
// The cast names only what the tests look at; a missing part fails the test that looks.
const dashboard = JSON.parse(json) as {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly annotations: { readonly list: readonly { readonly name: string }[] };
  readonly links: readonly { readonly url: string }[];
  readonly panels: readonly Panel[];
};
const charts = dashboard.panels.filter((panel) => panel.type !== 'row');
const queries = [...panelQueries(json), ...annotationQueries(json)];

describe('dashboards/overview', () => {
  it('is committed as it is generated', () => {
    expect(readFileSync(new URL('../../dashboards/overview.json', import.meta.url), 'utf8')).toBe(json);
  });

  it('keeps its address, its schema, its variables, its annotations and its links', () => {
    expect({ uid: dashboard.uid, schemaVersion: dashboard.schemaVersion }).toEqual({
      uid: 'automation-overview',
      schemaVersion: 42,
    });
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'server']);
    expect(dashboard.annotations.list.map(({ name }) => name)).toEqual(['Mode changes', 'Restarts']);
    expect(dashboard.links.map(({ url }) => url)).toEqual([
      'http://localhost:9720/',
      'http://localhost:9720/alerts/rules.yaml',
      'http://localhost:9720/runbooks/',
    ]);
  });

  it('asks one question per row', () => {
    const rows = dashboard.panels.filter((panel) => panel.type === 'row');
    expect(rows.map(({ title }) => title)).toEqual([
      'Is the service up, and may it run anything?',
      'Does the server call itself healthy?',
      'Are logs being stored?',
      'Does the server have room to work?',
      'Can I trust these numbers?',
    ]);
  });

  it.each(charts)('gives the panel "$title" a description, a unit and a query', (panel) => {
    expect(panel.description?.replace(/ ?\bEmpty .*/, '')).toMatch(/\.$/);
    expect(panel.fieldConfig?.defaults.unit).toEqual(expect.stringMatching(/./));
    expect(panel.targets?.length).toBeGreaterThan(0);
  });

  it('gives every panel its own id and title', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(new Set(dashboard.panels.map(({ title }) => title)).size).toBe(dashboard.panels.length);
  });

  it('fits the 24 columns of the grid without an overlap', () => {
    const taken = new Map<string, string>();
    const faults: string[] = [];
    for (const { title, gridPos } of dashboard.panels) {
      if (gridPos.x < 0 || gridPos.x + gridPos.w > 24) faults.push(`${title} leaves the grid`);
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
          const other = taken.get(`${x}/${y}`);
          if (other !== undefined) faults.push(`${title} covers ${other}`);
          taken.set(`${x}/${y}`, title);
        }
      }
    }
    expect(faults).toEqual([]);
  });

  it.each(queries)('asks in "$panel" for what exists: $expr', ({ expr }) => {
    const { valid, metrics } = readPromql(expr);
    expect(valid).toBe(true);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !contractMetrics.has(name))).toEqual([]);
  });
});
