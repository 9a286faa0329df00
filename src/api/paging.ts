/** A span of time; both ends belong to it. */
export type Window = { readonly beginMs: number; readonly endMs: number };
export type Page<Item> = { readonly total: number; readonly items: readonly Item[] };

export type PageRequest = Window & { readonly max: number; readonly offset: number };
export type ReadPage<Item> = (request: PageRequest) => Promise<Page<Item>>;

export type PagingOptions = {
  /** Rows a page holds at most. */
  readonly pageSize?: number;
  /** Rows that two pages of one window share: rows move while they are read. */
  readonly overlap?: number;
  /** The hard stop: more pages than this are an error of the server. */
  readonly mostPages?: number;
};

/**
 * Everything that a list holds within a window, oldest part first. The window is narrowed until one page holds it: rows are
 * cut into pages before those that may not be seen are taken out, so short and empty pages mean nothing and only the total
 * counts. A flood within one second is read by offset, and again if the total changed meanwhile. Rows may come twice.
 */
export async function* readWindow<Item>(
  read: ReadPage<Item>,
  window: Window,
  { pageSize = 500, overlap = 20, mostPages = 10_000 }: PagingOptions = {},
): AsyncGenerator<readonly Item[]> {
  let pages = 0;
  const readPage: ReadPage<Item> = async (request) => {
    pages += 1;
    if (pages > mostPages) throw new PagingError(`the list has no end: ${mostPages} pages were read`);
    return read(request);
  };
  const open: Window[] = [window];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    const first = await readPage({ ...current, max: pageSize, offset: 0 });
    if (first.total <= pageSize) {
      yield first.items;
      continue;
    }
    const halves = split(current);
    if (halves === undefined) yield* readByOffset(readPage, current, { first, pageSize, overlap });
    else open.push(halves.newer, halves.older);
  }
}

/** A list that does not stop. */
export class PagingError extends Error {
  override readonly name = 'PagingError';
}

/** Totals that change while a window is read have it read again, but not for ever: later passes find what moved. */
const mostRereads = 5;

type OffsetReading<Item> = { readonly first: Page<Item>; readonly pageSize: number; readonly overlap: number };

async function* readByOffset<Item>(
  read: ReadPage<Item>,
  window: Window,
  { first, pageSize, overlap }: OffsetReading<Item>,
): AsyncGenerator<readonly Item[]> {
  yield first.items;
  let { total } = first;
  let rereads = 0;
  const step = Math.max(1, pageSize - overlap);
  for (let offset = step; offset < total; offset += step) {
    const page = await read({ ...window, max: pageSize, offset });
    yield page.items;
    if (page.total === total) continue;
    total = page.total;
    if (rereads >= mostRereads) continue;
    rereads += 1;
    offset = -step;
  }
}

/** Two halves that meet at a whole second, since some servers know no finer; undefined for what lies within one. */
function split({ beginMs, endMs }: Window): { readonly older: Window; readonly newer: Window } | undefined {
  const firstSecond = Math.floor(beginMs / 1000);
  const lastSecond = Math.floor(endMs / 1000);
  if (lastSecond <= firstSecond) return undefined;
  const middleMs = Math.ceil((firstSecond + lastSecond) / 2) * 1000;
  return { older: { beginMs, endMs: middleMs - 1 }, newer: { beginMs: middleMs, endMs } };
}
