import { ApiError } from './errors.ts';

/** A span of time, both ends included. */
export type Window = { readonly beginMs: number; readonly endMs: number };
export type Page<Item> = {
  readonly total: number;
  readonly items: readonly Item[];
  /** The maximum number of rows on a page according to the response. A server or gateway may reduce the requested number. */
  readonly max?: number | undefined;
};

export type PageRequest = Window & { readonly max: number; readonly offset: number };
export type ReadPage<Item> = (request: PageRequest) => Promise<Page<Item>>;

type PagingOptions<Item> = {
  readonly apiEndpoint: string;
  /** Returns the time by which the list is sorted, newest first; undefined for rows without a time. */
  readonly endOf: (item: Item) => number | undefined;
  readonly pageSize?: number;
  /** The number of rows that two pages of the same second have in common, because rows move during reading. */
  readonly overlap?: number;
  /** The maximum number of pages. A longer list is an error of the server. */
  readonly maxPages?: number;
};

/** The part of a window that one response covers. */
export type Part<Item> = {
  readonly items: readonly Item[];
  readonly total: number;
  /** The number of rows, shown or hidden, that this part covers completely. Rows that are read again count in a later part. */
  readonly counted: number;
  /** The windows that are still to be read, oldest first. A reader that stops can continue with them later. */
  readonly rest: readonly Window[];
  /** True while a second with many rows is read page by page. A reader that stops meanwhile must read the second again. */
  readonly isInFlood: boolean;
};

/**
 * Reads a whole list within a window, page by page. Servers remove hidden rows from pages, so short and empty pages
 * prove nothing; only the total counts. A full page covers the newest rows, back to its oldest row. Of the remaining
 * windows, the oldest part is read first. Many rows within one second are read by offset, and read again if the total
 * changed meanwhile. Rows may be returned twice.
 */
export async function* readWindow<Item>(
  read: ReadPage<Item>,
  window: Window,
  options: PagingOptions<Item>,
): AsyncGenerator<Part<Item>> {
  const { apiEndpoint, maxPages = 2000 } = options;
  let { pageSize = 500 } = options;
  let pages = 0;
  const readPage: ReadPage<Item> = async (request) => {
    pages += 1;
    if (pages > maxPages) {
      const says = `the list does not end: ${maxPages} pages were read`;
      throw new ApiError(`GET ${apiEndpoint}: ${says}`, { kind: 'decode', apiEndpoint });
    }
    return read(request);
  };
  let open: readonly Window[] = [window];
  for (let [current] = open; current !== undefined; [current] = open) {
    const first = await readPage({ ...current, max: pageSize, offset: 0 });
    const others = open.slice(1);
    pageSize = toPageSize(pageSize, first);
    const paging = { ...options, pageSize };
    if (isWhole(first, pageSize)) {
      open = others;
      yield { items: first.items, total: first.total, counted: first.total, rest: open, isInFlood: false };
    } else if (toSecond(current.beginMs) === toSecond(current.endMs)) {
      for await (const part of readByOffset(readPage, current, first, paging)) {
        open = part.isLast ? others : [current, ...others];
        yield { ...part, rest: open, isInFlood: !part.isLast };
      }
    } else {
      const part = divide(current, first, paging);
      open = [...part.rest, ...others];
      yield { ...part, total: first.total, rest: open, isInFlood: false };
    }
  }
}

/**
 * Returns the maximum number of rows on a page: the smaller number of request and response, unless the response has more rows.
 */
export function toPageSize(asked: number, { max, items }: Pick<Page<unknown>, 'max' | 'items'>): number {
  return max === undefined || max < Math.max(1, items.length) ? asked : Math.min(asked, max);
}

/** Reports whether a page is the whole list. More rows may follow a full page, because some totals are cached. */
function isWhole({ total, items }: Page<unknown>, pageSize: number): boolean {
  return total <= pageSize && items.length < pageSize;
}

/** Splits a full page into finished rows and remaining windows, oldest first. */
function divide<Item>(
  window: Window,
  { total, items }: Page<Item>,
  { endOf, pageSize = 500 }: PagingOptions<Item>,
): Pick<Part<Item>, 'items' | 'counted' | 'rest'> {
  const ends = items.flatMap((item) => endOf(item) ?? []);
  const oldestMs = ends.at(-1);
  // If few rows are shown, or rows are out of order or outside the window, the oldest time of the page is unknown.
  const isUnclear = ends.length < pageSize / 4 || !isNewestFirst(ends);
  if (oldestMs === undefined || isUnclear || !isWithin(window, oldestMs)) {
    return { items, counted: 0, rest: halve(window) };
  }
  const secondMs = toSecond(oldestMs) * 1000;
  // The page may lack rows of its last second, so this second is read again.
  const left: Window = { beginMs: window.beginMs, endMs: Math.min(secondMs + 999, window.endMs) };
  const newer = items.filter((item) => (endOf(item) ?? secondMs) > left.endMs);
  if (newer.length === 0) return { items, counted: 0, rest: cutAt(left, secondMs) };
  const counted = newer.length + Math.max(0, pageSize - items.length);
  const rowsPerMs = newer.length / Math.max(1000, window.endMs - left.endMs);
  return { items: newer, counted, rest: cutAt(left, toCutMs(left, { rows: total - counted, rowsPerMs, pageSize })) };
}

/**
 * Chooses where to split a window with a known total, so that the older part has a few pages. A part with far fewer rows than
 * expected probably has its rows near its end.
 */
function toCutMs(
  { beginMs, endMs }: Window,
  { rows, rowsPerMs, pageSize }: { rows: number; rowsPerMs: number; pageSize: number },
): number | undefined {
  const most = partPages * pageSize;
  const lengthMs = endMs - beginMs;
  if (rows <= most) return undefined;
  const denseMs = (1.1 * rows) / rowsPerMs;
  return denseMs < lengthMs / 2 ? endMs - denseMs : beginMs + (0.95 * most * lengthMs) / rows;
}

/** The approximate number of pages of the older part. After so many requests, no gap is left before the newer part. */
const partPages = 6;

/**
 * Splits a window at a whole second, because some servers cut times. Returns the whole window if the split is outside of it.
 */
function cutAt(window: Window, atMs: number | undefined): readonly Window[] {
  const middleMs = toSecond(atMs ?? window.beginMs) * 1000;
  if (middleMs <= window.beginMs || middleMs > window.endMs) return [window];
  return [
    { beginMs: window.beginMs, endMs: middleMs - 1 },
    { beginMs: middleMs, endMs: window.endMs },
  ];
}

function halve(window: Window): readonly Window[] {
  const first = toSecond(window.beginMs);
  const last = toSecond(window.endMs);
  return cutAt(window, Math.ceil((first + last) / 2) * 1000);
}

function toSecond(timestampMs: number): number {
  return Math.floor(timestampMs / 1000);
}

function isWithin({ beginMs, endMs }: Window, timestampMs: number): boolean {
  return toSecond(timestampMs) >= toSecond(beginMs) && toSecond(timestampMs) <= toSecond(endMs);
}

function isNewestFirst(ends: readonly number[]): boolean {
  return ends.every((endMs, index) => index === 0 || endMs <= (ends[index - 1] ?? endMs));
}

/** The maximum number of times that a window with a changing total is read again. */
const maxRereads = 5;

async function* readByOffset<Item>(
  read: ReadPage<Item>,
  window: Window,
  first: Page<Item>,
  { pageSize = 500, overlap = Math.min(20, Math.floor(pageSize / 4)) }: PagingOptions<Item>,
): AsyncGenerator<Omit<Part<Item>, 'rest' | 'isInFlood'> & { isLast: boolean }> {
  let { total } = first;
  let rereads = 0;
  let page = first;
  const step = Math.max(1, pageSize - overlap);
  for (let offset = 0; ; ) {
    const isLast = offset + step >= total && page.items.length < pageSize;
    yield { items: page.items, total, counted: isLast ? total : 0, isLast };
    if (isLast) return;
    offset += step;
    page = await read({ ...window, max: pageSize, offset });
    if (page.total === total) continue;
    total = page.total;
    if (rereads >= maxRereads) continue;
    rereads += 1;
    offset = -step;
  }
}

type ListOptions<Item> = {
  readonly apiEndpoint: string;
  readonly idOf: (item: Item) => number;
  /** The number of rows that two pages share at first. */
  readonly overlap: number;
  readonly maxPages: number;
};

/**
 * Reads a list by offset while its rows change. If two pages share no row, the list is read again with a larger
 * overlap. Fails if the list cannot be read completely.
 */
export async function readList<Item>(
  read: (page: { max: number; offset: number }) => Promise<Page<Item>>,
  { apiEndpoint, idOf, overlap, maxPages }: ListOptions<Item>,
): Promise<readonly Item[]> {
  const found = new Map<number, Item>();
  let shared = overlap;
  let mustShare = false;
  for (let offset = 0, pages = 0; pages < maxPages; pages += 1) {
    const page = await read({ max: listPageSize, offset });
    const size = toPageSize(listPageSize, page);
    // A page with hidden rows cannot be compared with the previous page.
    const isPart = page.items.length < Math.min(size, page.total - offset);
    const isJoined: boolean = !mustShare || isPart || page.items.some((item) => found.has(idOf(item)));
    if (isJoined) for (const item of page.items) found.set(idOf(item), item);
    else found.clear();
    if (isJoined && offset + size >= page.total) return [...found.values()];
    if (!isJoined) shared *= 2;
    const rows = Math.min(shared, Math.floor(size / 4));
    offset = isJoined ? offset + size - rows : 0;
    mustShare = isJoined && !isPart && rows > 0;
  }
  const says = `more than ${maxPages} pages; no row is counted`;
  throw new ApiError(`GET ${apiEndpoint}: ${says}`, { kind: 'too_large', apiEndpoint });
}

const listPageSize = 500;
