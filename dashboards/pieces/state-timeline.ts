import {
  LegendDisplayMode,
  LegendPlacement,
  VisibilityMode,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import type { GridPanel, PanelFacts } from './panel.ts';
import { toGridPanel } from './panel.ts';
import { type StateWords, toValueMappings } from './state-words.ts';

/** States over time as bands of words, one line per series. */
export function stateTimeline(facts: PanelFacts & { readonly words: StateWords }): GridPanel {
  const timeline = new PanelBuilder()
    .mappings(toValueMappings(facts.words))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.8)
    .fillOpacity(80)
    .lineWidth(0)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    );
  return toGridPanel(timeline, facts, 'over-time');
}
