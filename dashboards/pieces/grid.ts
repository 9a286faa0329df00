import { type GridPos, type Panel, RowBuilder, type RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { GridPanel } from './panel.ts';

/** One question of the reader, and the panels that answer it. */
export interface QuestionRow {
  readonly id: number;
  readonly question: string;
  readonly panels: readonly GridPanel[];
}

/** Lays rows out on Grafana's grid, panels from left to right: the first row is open, the others are collapsed. */
export function layOut(rows: readonly QuestionRow[]): (RowPanel | Panel)[] {
  const placed: (RowPanel | Panel)[] = [];
  let y = 0;
  for (const [index, row] of rows.entries()) {
    const heading = { x: 0, y, w: gridColumns, h: 1 };
    const builder = new RowBuilder(row.question).id(row.id).gridPos(heading);
    const line = placeLine(row.panels, y + heading.h);
    if (index === 0) {
      placed.push(builder.build(), ...line.panels);
      y = line.bottom;
    } else {
      placed.push({ ...builder.collapsed(true).build(), panels: line.panels });
      y += heading.h;
    }
  }
  return placed;
}

/** The panels of a row that another dashboard uses, in the order of their ids. */
export function pickPanels(row: QuestionRow, ids: readonly number[]): GridPanel[] {
  return ids.flatMap((id) => row.panels.filter(({ panel }) => panel.id === id));
}

const gridColumns = 24;

function placeLine(panels: readonly GridPanel[], top: number): { panels: Panel[]; bottom: number } {
  const placed: Panel[] = [];
  let x = 0;
  let y = top;
  let bottom = top;
  for (const { width, height, panel } of panels) {
    if (x + width > gridColumns) {
      x = 0;
      y = bottom;
    }
    const gridPos: GridPos = { x, y, w: width, h: height };
    placed.push({ ...panel, gridPos });
    x += width;
    bottom = Math.max(bottom, y + height);
  }
  return { panels: placed, bottom };
}
