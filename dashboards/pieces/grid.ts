import { type GridPos, type Panel, RowBuilder, type RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { GridPanel } from './panel.ts';

/** One question of the reader, and the panels that answer it. */
export interface QuestionRow {
  readonly id: number;
  readonly question: string;
  readonly panels: readonly GridPanel[];
}

/** Lays rows out on Grafana's grid: panels from left to right, a new line where the width is used up. */
export function layOut(rows: readonly QuestionRow[]): (RowPanel | Panel)[] {
  const placed: (RowPanel | Panel)[] = [];
  let y = 0;
  for (const row of rows) {
    const heading = { x: 0, y, w: gridColumns, h: 1 };
    placed.push(new RowBuilder(row.question).id(row.id).gridPos(heading).build());
    const line = placeLine(row.panels, y + heading.h);
    placed.push(...line.panels);
    y = line.bottom;
  }
  return placed;
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
