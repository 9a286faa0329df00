import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { linksOfColumns } from './links.ts';
import type { GridPanel, PanelFacts } from './panel.ts';
import { toGridPanel } from './panel.ts';
import { type StateWords, toValueMappings } from './state-words.ts';

/** Shows labels as a table. `columns` maps labels to headings, in order; a `state` column shows the value in words. */
export function factsTable(
  facts: PanelFacts & {
    readonly columns: Readonly<Record<string, string>>;
    readonly state?: { readonly heading: string; readonly words: StateWords };
  },
): GridPanel {
  const { state } = facts;
  const names = { ...facts.columns, ...(state ? { Value: state.heading } : {}) };
  const table = new PanelBuilder()
    .showHeader(true)
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true, ...(state ? {} : { Value: true }) },
        indexByName: Object.fromEntries(Object.keys(names).map((name, index) => [name, index])),
        renameByName: names,
      },
    });
  if (state) {
    table.overrideByName(state.heading, [
      { id: 'mappings', value: toValueMappings(state.words) },
      { id: 'custom.cellOptions', value: { type: 'color-text' } },
    ]);
  }
  for (const [heading, links] of Object.entries(linksOfColumns(facts.columns)))
    if (links.length > 0) table.overrideByName(heading, [{ id: 'links', value: links }]);
  return toGridPanel(table, facts, 'table');
}
