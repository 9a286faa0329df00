import { describe, expect, it } from 'vitest';
import { layOut } from '../../../dashboards/pieces/grid.ts';

describe('dashboards/pieces/grid', () => {
  it('wraps when the width is used up and starts each row below the last', () => {
    const panel = (title: string, width: number, height: number) => ({ width, height, panel: { type: 'stat', title } });
    const rows = [
      { id: 1, question: 'First?', panels: [panel('a', 12, 4), panel('b', 12, 6), panel('c', 8, 4)] },
      { id: 2, question: 'Second?', panels: [panel('d', 24, 4)] },
    ];
    const placed = layOut(rows).flatMap((panel) => [panel, ...('panels' in panel ? panel.panels : [])]);
    expect(placed.map(({ title, gridPos }) => [title, gridPos])).toEqual([
      ['First?', { x: 0, y: 0, w: 24, h: 1 }],
      ['a', { x: 0, y: 1, w: 12, h: 4 }],
      ['b', { x: 12, y: 1, w: 12, h: 6 }],
      ['c', { x: 0, y: 7, w: 8, h: 4 }],
      ['Second?', { x: 0, y: 11, w: 24, h: 1 }],
      ['d', { x: 0, y: 12, w: 24, h: 4 }],
    ]);
  });
});
