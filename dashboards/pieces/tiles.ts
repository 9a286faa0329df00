import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import type { GridPanel, PanelFacts } from './panel.ts';
import { toGridPanel } from './panel.ts';
import { type StateWords, toneColors, toValueMappings } from './state-words.ts';

/** A coloured tile that shows a state as one word. */
export function stateTile(facts: PanelFacts & { readonly words: StateWords }): GridPanel {
  const tile = createTile(BigValueColorMode.BackgroundSolid).mappings(toValueMappings(facts.words)).noValue('Unknown');
  return toGridPanel(tile, facts, 'now');
}

/** A tile with a number. From `notableFrom` and from `badFrom` on, the tile has another colour. */
export function numberTile(
  facts: PanelFacts & { readonly notableFrom?: number; readonly badFrom?: number },
): GridPanel {
  const steps = [
    { value: null, color: toneColors.good },
    ...(facts.notableFrom === undefined ? [] : [{ value: facts.notableFrom, color: toneColors.notable }]),
    ...(facts.badFrom === undefined ? [] : [{ value: facts.badFrom, color: toneColors.bad }]),
  ];
  const plain = steps.length === 1;
  const tile = createTile(plain ? BigValueColorMode.None : BigValueColorMode.BackgroundSolid)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps))
    .noValue('–');
  return toGridPanel(tile, facts, 'now');
}

/** A tile that shows the value of a label, such as a version, as the legend of its query. */
export function textTile(facts: PanelFacts): GridPanel {
  const tile = createTile(BigValueColorMode.None).textMode(BigValueTextMode.Name).noValue('–');
  return toGridPanel(tile, facts, 'now');
}

function createTile(colorMode: BigValueColorMode): PanelBuilder {
  return new PanelBuilder()
    .colorMode(colorMode)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Auto)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false));
}
