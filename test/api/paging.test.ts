import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Page, type PageRequest, readWindow, type Window } from '../../src/api/paging.ts';

type Row = { readonly id: number; readonly endMs: number; readonly hidden: boolean };

/** A list as servers keep it: newest end first, cut into pages before what may not be seen is taken out. */
function createList(rows: readonly Row[]) {
  const asked: PageRequest[] = [];
  let kept = [...rows];
  return {
    asked,
    change: (next: readonly Row[]) => {
      kept = [...next];
    },
    read: async (request: PageRequest): Promise<Page<Row>> => {
      asked.push(request);
      const inWindow = kept
        .filter(({ endMs }) => endMs >= request.beginMs && endMs <= request.endMs)
        .sort((one, other) => other.endMs - one.endMs || other.id - one.id);
      const page = inWindow.slice(request.offset, request.offset + request.max);
      return { total: inWindow.length, items: page.filter(({ hidden }) => !hidden) };
    },
  };
}

async function readIds(list: ReturnType<typeof createList>, window: Window, pageSize: number): Promise<number[]> {
  const found = new Set<number>();
  for await (const items of readWindow(list.read, window, { pageSize, overlap: 2, mostPages: 5000 })) {
    for (const { id } of items) found.add(id);
  }
  return [...found].sort((one, other) => one - other);
}

const hour: Window = { beginMs: 0, endMs: 3_600_000 };

describe('api/paging', () => {
  it('asks once where one page holds the window', async () => {
    const list = createList([{ id: 1, endMs: 5, hidden: false }]);

    expect(await readIds(list, hour, 500)).toEqual([1]);
    expect(list.asked).toEqual([{ beginMs: 0, endMs: 3_600_000, max: 500, offset: 0 }]);
  });

  it('finds every row that may be seen, whatever is hidden and however they lie', async () => {
    const rows = fc.array(fc.record({ endMs: fc.integer({ min: 0, max: 20_000 }), hidden: fc.boolean() }), {
      maxLength: 120,
    });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 3, max: 30 }), async (drawn, pageSize) => {
        const all = drawn.map((row, id) => ({ ...row, id }));
        const found = await readIds(createList(all), { beginMs: 0, endMs: 20_000 }, pageSize);
        expect(found).toEqual(all.filter(({ hidden }) => !hidden).map(({ id }) => id));
      }),
      { numRuns: 200 },
    );
  });

  it('pages by offset only within one second, pages overlapping', async () => {
    const flood = Array.from({ length: 25 }, (_, id) => ({ id, endMs: 7000 + id, hidden: false }));
    const list = createList(flood);

    expect(await readIds(list, { beginMs: 7000, endMs: 7999 }, 10)).toHaveLength(25);
    expect(list.asked.map(({ offset }) => offset)).toEqual([0, 8, 16, 24]);
  });

  it('reads a flood again when its total changed meanwhile', async () => {
    const flood = Array.from({ length: 25 }, (_, id) => ({ id, endMs: 7000, hidden: false }));
    const list = createList(flood);
    const found = new Set<number>();
    let pages = 0;
    for await (const items of readWindow(list.read, { beginMs: 7000, endMs: 7999 }, { pageSize: 10, overlap: 2 })) {
      for (const { id } of items) found.add(id);
      pages += 1;
      // Ten rows are deleted behind the reader: the rest moves up by a page.
      if (pages === 2) list.change(flood.slice(0, 15));
    }

    expect([...found].filter((id) => id < 15)).toHaveLength(15);
  });

  it('stops at a list that has no end', async () => {
    const endless = async (): Promise<Page<number>> => ({ total: Number.MAX_SAFE_INTEGER, items: [] });
    const reading = (async () => {
      for await (const _ of readWindow(endless, { beginMs: 0, endMs: 10 }, { mostPages: 50 }));
    })();

    await expect(reading).rejects.toThrow('the list has no end: 50 pages were read');
  });

  it('stops where totals never stand still', async () => {
    let total = 100;
    const restless = async (): Promise<Page<number>> => ({ total: (total = total === 100 ? 101 : 100), items: [] });
    let pages = 0;
    for await (const _ of readWindow(restless, { beginMs: 0, endMs: 10 }, { pageSize: 10, overlap: 0 })) pages += 1;

    expect(pages).toBeLessThan(100);
  });

  it('cuts a window into parts that meet, and reads the older first', async () => {
    const seconds = [0, 999, 1000, 1001, 1999, 2000, 2001, 2999, 3000, 3001, 3999];
    const list = createList(seconds.map((endMs, id) => ({ id, endMs, hidden: false })));

    expect(await readIds(list, { beginMs: 0, endMs: 3999 }, 3)).toEqual(seconds.map((_, id) => id));

    const firstPages = list.asked.filter(({ offset }) => offset === 0);
    expect(firstPages.map(({ beginMs, endMs }) => [beginMs, endMs])).toEqual([
      [0, 3999],
      [0, 1999],
      [0, 999],
      [1000, 1999],
      [2000, 3999],
      [2000, 2999],
      [3000, 3999],
    ]);
  });
});
