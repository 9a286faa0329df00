import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { onceForAllExporters } from './exporters.ts';
import { type DataLink, linksOfSeries } from './links.ts';

/** The facts about a panel that all kinds of panels have. */
export interface PanelFacts {
  /** An id that is never reused, because links to a single panel contain it. */
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly width: number;
  readonly height: number;
  /** A sentence that begins with "Empty" and says why a healthy set-up may show nothing here. */
  readonly emptyReason?: string;
  readonly queries: readonly PanelQuery[];
}

interface PanelQuery {
  readonly expr: string;
  readonly legend: string;
  /** Draws the traces that buckets refer to; the data source defines where a click on them leads. */
  readonly exemplars?: true;
}

/** A finished panel without its position. */
export interface GridPanel {
  readonly width: number;
  readonly height: number;
  readonly panel: Panel;
}

/** The data source that is selected at the top of the dashboard. */
export const dataSource: DataSourceRef = { type: 'prometheus', uid: '$datasource' };

/** The kind of query: the newest value, the newest values as a table, values over time, or buckets over time. */
type Asking = 'now' | 'table' | 'over-time' | 'buckets-over-time';

export function toGridPanel(builder: CommonPanelBuilder, facts: PanelFacts, asking: Asking): GridPanel {
  builder
    .id(facts.id)
    .title(facts.title)
    .description([facts.description, facts.emptyReason].filter(Boolean).join(' '))
    .unit(facts.unit)
    .datasource(dataSource)
    .targets(facts.queries.map((query, index) => toTarget(query, index, asking)));
  const panel = builder.build();
  const links = asking === 'table' ? [] : linksOfSeries(facts.queries.map(({ expr }) => expr));
  return { width: facts.width, height: facts.height, panel: links.length === 0 ? panel : withLinks(panel, links) };
}

/** Sets data links: the builder of the SDK would write them as dashboard links, which Grafana does not read. */
function withLinks(panel: Panel, links: readonly DataLink[]): Panel {
  const { defaults = {}, overrides = [] } = panel.fieldConfig ?? {};
  // This cast is safe: the type in the SDK is wrong, and Grafana reads this shape.
  const fieldConfig = { overrides, defaults: { ...defaults, links } } as unknown as NonNullable<Panel['fieldConfig']>;
  return { ...panel, fieldConfig };
}

/** The part of the panel builders that all of them share. */
interface CommonPanelBuilder extends Builder<Panel> {
  id(id: number): this;
  title(title: string): this;
  description(description: string): this;
  unit(unit: string): this;
  datasource(datasource: DataSourceRef): this;
  targets(targets: Builder<Dataquery>[]): this;
}

function toTarget(query: PanelQuery, index: number, asking: Asking): DataqueryBuilder {
  const target = new DataqueryBuilder()
    .refId(String.fromCharCode(65 + index))
    .datasource(dataSource)
    .expr(onceForAllExporters(query.expr))
    .legendFormat(query.legend);
  if (query.exemplars) target.exemplar(true);
  switch (asking) {
    case 'now':
      return target.instant();
    case 'table':
      return target.instant().format(PromQueryFormat.Table);
    case 'over-time':
      return target.range();
    case 'buckets-over-time':
      return target.range().format(PromQueryFormat.Heatmap);
    default:
      return asking satisfies never;
  }
}
