import { describe, expect, it } from 'vitest';
import { tracesJson } from '../../dashboards/traces.ts';
import { conventional, own } from '../../src/tracing/plan/attribute-names.ts';
import { listPanels, readDashboard } from './dashboard-shape.ts';

type Target = { readonly query: string; readonly queryType: string; readonly datasource: { readonly type: string } };

describe('dashboards/traces', () => {
  const dashboard = readDashboard(tracesJson());
  const panels = listPanels(dashboard).filter(({ type }) => type !== 'row');
  // The cast has only the fields that are used.
  const targets = panels.flatMap((panel) => (panel.targets ?? []) as unknown as readonly Target[]);

  it('queries Tempo for existing attributes', () => {
    expect(targets.map(({ queryType, datasource }) => [queryType, datasource.type])).toEqual(
      panels.map(() => ['traceql', 'tempo']),
    );
    const asked = targets.flatMap(({ query }) => [...query.matchAll(/\b(?:span|resource)\.([a-z_.]+)/g)]);
    const known = new Set<string>([...Object.values(conventional), ...Object.values(own)]);
    expect(asked.map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
    const ofResource = [own.server, conventional.pipeline] as readonly string[];
    expect(asked.filter(([all, name = '']) => all.startsWith('resource.') !== ofResource.includes(name))).toEqual([]);
  });

  it('has the schema of the other dashboards', () => {
    expect(dashboard.schemaVersion).toBe(38);
  });

  it('gives every panel an id, a description and a query', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { description, targets: asked } of panels) {
      expect(description).toMatch(/\.$/);
      expect(asked).toHaveLength(1);
    }
    for (const { query } of targets)
      expect(query).toMatch(/^\{ [^{}]*(?:\$\{server:pipe\})?[^{}]* \}(?: \| [^{}|]+)+$/);
  });
});
