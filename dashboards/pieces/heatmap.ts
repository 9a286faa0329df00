import { AxisPlacement } from '@grafana/grafana-foundation-sdk/common';
import {
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  PanelBuilder,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import type { GridPanel, PanelFacts } from './panel.ts';
import { toGridPanel } from './panel.ts';

/** The buckets of a histogram over time: the darker a cell, the more values it has. The unit is that of the buckets. */
export function heatmap(facts: PanelFacts): GridPanel {
  const panel = new PanelBuilder()
    .calculate(false)
    .color(new HeatmapColorOptionsBuilder().mode(HeatmapColorMode.Scheme).scheme('Oranges').steps(64))
    .yAxis(new YAxisConfigBuilder().unit(facts.unit).axisPlacement(AxisPlacement.Left))
    .cellGap(1)
    .showLegend();
  return toGridPanel(panel, facts, 'buckets-over-time');
}
