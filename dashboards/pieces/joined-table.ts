import { TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { linksOfColumns } from './links.ts';
import type { GridPanel, PanelFacts } from './panel.ts';
import { toGridPanel } from './panel.ts';

/** One value column: its heading, and its unit if it differs from that of the table. */
interface ValueColumn {
  readonly heading: string;
  readonly expr: string;
  readonly unit?: string;
}

/**
 * A table with a row for each common set of labels, and a column for each label and query. A query with an empty heading only
 * adds a label that the others lack; its value is not shown.
 */
export function joinedTable(
  facts: Omit<PanelFacts, 'queries'> & {
    readonly labels: Readonly<Record<string, string>>;
    readonly values: readonly ValueColumn[];
    /** The heading of the column by which rows are sorted, largest value first. */
    readonly sortBy: string;
  },
): GridPanel {
  const { labels, values, sortBy, ...rest } = facts;
  const columns = values.map(({ heading }, index) => [toColumn(index, values.length), heading] as const);
  const shown = [...Object.entries(labels), ...columns.filter(([, heading]) => heading !== '')];
  const hidden = columns.filter(([, heading]) => heading === '').map(([column]) => column);
  const table = new PanelBuilder()
    .showHeader(true)
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: Object.fromEntries(['Time', ...hidden].map((column) => [column, true])),
        indexByName: Object.fromEntries(shown.map(([column], index) => [column, index])),
        renameByName: Object.fromEntries(shown),
      },
    })
    .sortBy([new TableSortByFieldStateBuilder().displayName(sortBy).desc(true)]);
  for (const { heading, unit } of values)
    if (unit !== undefined) table.overrideByName(heading, [{ id: 'unit', value: unit } satisfies DynamicConfigValue]);
  const headings = { ...labels, ...Object.fromEntries(values.map(({ heading }) => [heading, heading])) };
  for (const [heading, links] of Object.entries(linksOfColumns(headings)))
    table.overrideByName(heading, [{ id: 'links', value: links } satisfies DynamicConfigValue]);
  const queries = values.map(({ expr, heading }) => ({ expr, legend: heading }));
  return toGridPanel(table, { ...rest, queries }, 'table');
}

/** Returns Grafana's name for the value of a query, which has the letter of the query if there are several. */
function toColumn(index: number, queries: number): string {
  return queries === 1 ? 'Value' : `Value #${String.fromCharCode(65 + index)}`;
}
