import { describe, expect, it } from 'vitest';
import { type Page, type PageRequest, type Part, readWindow, type Window } from '../../src/api/paging.ts';
import { fc } from '../support/property.ts';

type Row = { readonly id: number; readonly endMs: number; readonly hidden: boolean };

/** A list as on a server, newest end first; pages are cut before rows are hidden. */
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
  for await (const { items } of readWindow(list.read, window, { ...ofRows, pageSize, overlap: 2, maxPages: 5000 })) {
    for (const { id } of items) found.add(id);
  }
  return [...found].sort((one, other) => one - other);
}

async function readOnePage(list: ReturnType<typeof createList>, window: Window): Promise<Part<Row>> {
  const pages: AsyncIterator<Part<Row>, undefined> = readWindow(list.read, window, { ...ofRows, pageSize: 100 });
  const { value } = await pages.next();
  if (value === undefined) throw new Error('there is no page');
  return value;
}

const ofRows = { apiEndpoint: 'rows', endOf: ({ endMs }: Row) => endMs };
const hour: Window = { beginMs: 0, endMs: 3_600_000 };

describe('api/paging', () => {
  it('sends one request if one page contains the whole window', async () => {
    const list = createList([{ id: 1, endMs: 5, hidden: false }]);

    expect(await readIds(list, hour, 500)).toEqual([1]);
    expect(list.asked).toEqual([{ beginMs: 0, endMs: 3_600_000, max: 500, offset: 0 }]);
  });

  it('finds every visible row among hidden rows', async () => {
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

  it('uses offsets only among rows that end in the same second', async () => {
    const flood = Array.from({ length: 25 }, (_, id) => ({ id, endMs: 7000 + id, hidden: false }));
    const list = createList(flood);

    expect(await readIds(list, { beginMs: 7000, endMs: 7999 }, 10)).toHaveLength(25);
    expect(list.asked.map(({ offset }) => offset)).toEqual([0, 8, 16, 24]);
  });

  it('reads a burst of rows again if its total changed', async () => {
    const flood = Array.from({ length: 25 }, (_, id) => ({ id, endMs: 7000, hidden: false }));
    const list = createList(flood);
    const found = new Set<number>();
    let pages = 0;
    const options = { ...ofRows, pageSize: 10, overlap: 2 };
    for await (const { items } of readWindow(list.read, { beginMs: 7000, endMs: 7999 }, options)) {
      for (const { id } of items) found.add(id);
      pages += 1;
      // Ten rows of an earlier page are deleted, so later rows move there.
      if (pages === 2) list.change(flood.slice(0, 15));
    }

    expect([...found].filter((id) => id < 15)).toHaveLength(15);
  });

  it('reads the first page of a burst again after new rows', async () => {
    const flood = Array.from({ length: 25 }, (_, id) => ({ id, endMs: 7000, hidden: false }));
    const late = Array.from({ length: 3 }, (_, index) => ({ id: 25 + index, endMs: 7000, hidden: false }));
    const list = createList(flood);
    const found = new Set<number>();
    let pages = 0;
    const options = { ...ofRows, pageSize: 10, overlap: 2 };
    for await (const { items } of readWindow(list.read, { beginMs: 7000, endMs: 7999 }, options)) {
      for (const { id } of items) found.add(id);
      pages += 1;
      if (pages === 2) list.change([...flood, ...late]);
    }

    expect(found.size).toBe(28);
  });

  it('stops reading a list that never ends', async () => {
    const endless = async (): Promise<Page<Row>> => ({ total: Number.MAX_SAFE_INTEGER, items: [] });
    const reading = (async () => {
      for await (const _ of readWindow(endless, { beginMs: 0, endMs: 10 }, { ...ofRows, maxPages: 50 }));
    })();

    await expect(reading).rejects.toMatchObject({
      message: 'GET rows: the list does not end: 50 pages were read',
      kind: 'decode',
    });
  });

  it('stops reading again if totals keep changing', async () => {
    let total = 100;
    const restless = async (): Promise<Page<Row>> => ({ total: (total = total === 100 ? 101 : 100), items: [] });
    let pages = 0;
    const options = { ...ofRows, pageSize: 10, overlap: 0 };
    for await (const _ of readWindow(restless, { beginMs: 0, endMs: 10 }, options)) pages += 1;

    // The reader begins again five times, then reads to the end.
    expect(pages).toBe(16);
  });

  it('continues before the oldest second of a full page', async () => {
    const ends = [0, 999, 1000, 1001, 1999, 2000, 2001, 2999, 3000, 3001, 3999];
    const list = createList(ends.map((endMs, id) => ({ id, endMs, hidden: false })));

    expect(await readIds(list, { beginMs: 0, endMs: 3999 }, 4)).toEqual(ends.map((_, id) => id));

    expect(list.asked.map(({ beginMs, endMs, offset }) => [beginMs, endMs, offset])).toEqual([
      [0, 3999, 0],
      [0, 2999, 0],
      [0, 1999, 0],
      [0, 999, 0],
    ]);
  });

  it('halves a window if too few rows are visible', async () => {
    const rows = Array.from({ length: 40 }, (_, id) => ({ id, endMs: id * 100, hidden: id % 10 !== 0 }));
    const list = createList(rows);

    expect(await readIds(list, { beginMs: 0, endMs: 3999 }, 20)).toEqual([0, 10, 20, 30]);
    expect(list.asked.map(({ beginMs, endMs }) => [beginMs, endMs])).toEqual([
      [0, 3999],
      [0, 1999],
      [2000, 3999],
    ]);
  });

  it('does not rely on a page that is not ordered by end', async () => {
    const rows = Array.from({ length: 60 }, (_, id) => ({ id, endMs: ((id * 37) % 60) * 100, hidden: false }));
    const byStart = createList(rows);
    const disordered = {
      ...byStart,
      read: async (request: PageRequest): Promise<Page<Row>> => {
        const found = rows.filter(({ endMs }) => endMs >= request.beginMs && endMs <= request.endMs);
        return { total: found.length, items: found.slice(request.offset, request.offset + request.max) };
      },
    };

    expect(await readIds(disordered, { beginMs: 0, endMs: 5999 }, 20)).toHaveLength(60);
  });

  it.each([-3_600_000, 3_600_000])(
    'finds every row even if all end times of the server are %s ms off',
    async (shiftMs) => {
      const beginMs = 7_200_000;
      const rows = Array.from({ length: 1000 }, (_, id) => ({ id, endMs: beginMs + id * 900, hidden: false }));
      const list = createList(rows);
      const read = async (request: PageRequest): Promise<Page<Row>> => {
        const { total, items } = await list.read(request);
        return { total, items: items.map((row) => ({ ...row, endMs: row.endMs + shiftMs })) };
      };

      const found = await readIds({ ...list, read }, { beginMs, endMs: beginMs + 3_600_000 }, 100);

      expect(found).toEqual(rows.map(({ id }) => id));
      expect(list.asked.every(({ beginMs, endMs }) => beginMs <= endMs)).toBe(true);
    },
  );

  it('continues after a full page even if the total is too small', async () => {
    const list = createList(Array.from({ length: 30 }, (_, id) => ({ id, endMs: id * 1000, hidden: false })));
    const stale = {
      ...list,
      read: async (request: PageRequest): Promise<Page<Row>> => ({ ...(await list.read(request)), total: 7 }),
    };
    expect(await readIds(stale, { beginMs: 0, endMs: 29_999 }, 10)).toHaveLength(30);
    const flood = createList(Array.from({ length: 30 }, (_, id) => ({ id, endMs: 7000, hidden: false })));
    const staleFlood = {
      ...flood,
      read: async (request: PageRequest): Promise<Page<Row>> => ({ ...(await flood.read(request)), total: 7 }),
    };
    expect(await readIds(staleFlood, { beginMs: 0, endMs: 29_999 }, 10)).toHaveLength(30);
  });

  it('reports after every page which windows are unread', async () => {
    const list = createList(Array.from({ length: 5000 }, (_, id) => ({ id, endMs: id * 700, hidden: id % 7 === 0 })));
    const found = new Set<number>();
    let open: readonly Window[] = [hour];
    let counted = 0;
    for (let [next] = open; next !== undefined; [next] = open) {
      // Each call reads one page, as if the process restarted after each page.
      const part = await readOnePage(list, next);
      for (const { id } of part.items) found.add(id);
      counted += part.counted;
      open = [...part.rest, ...open.slice(1)];
    }
    expect(found.size).toBe(4285);
    // A few hidden rows at the edges of pages may be counted twice.
    expect(counted).toBe(5015);
    expect(list.asked.length).toBeLessThanOrEqual(65);
  });

  it.each<readonly [string, number, (index: number) => number]>([
    ['all of a day', 20_000, (index) => index * 4320],
    ['the last hour of a day', 20_000, (index) => 23 * 3_600_000 + index * 180],
    ['the first hour of a day', 20_000, (index) => index * 180],
    ['ten bursts', 20_000, (index) => Math.floor(index / 2000) * 8_640_000 + (index % 2000) * 30],
    ['more and more', 20_000, (index) => Math.floor(86_400_000 * Math.sqrt(index / 20_000))],
  ])('reads %s with few more requests than full pages', async (_name, rows, toEndMs) => {
    const list = createList(Array.from({ length: rows }, (_, id) => ({ id, endMs: toEndMs(id), hidden: false })));
    expect(await readIds(list, { beginMs: 0, endMs: 86_399_999 }, 500)).toHaveLength(rows);
    expect(list.asked.length).toBeLessThanOrEqual(Math.floor(1.3 * (rows / 500)));
  });
});
