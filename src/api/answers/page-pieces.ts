import { ApiError } from '../errors.ts';
import { type ReadPage, toPageSize } from '../paging.ts';

/**
 * Reads a page in pieces if its response would be too large. Halves the number of rows until a response fits, and
 * doubles it later. A single row that is too large is skipped and reported.
 */
export function inPieces<Item>(
  read: ReadPage<Item>,
  onLeftOut: (next: Item | undefined, distance: number) => void,
): ReadPage<Item> {
  let size = Number.POSITIVE_INFINITY;
  let fitted = 0;

  return async (request) => {
    let endOffset = request.offset + request.max;
    const rows: (Item | undefined)[] = [];
    let total: number | undefined;
    let restarts = 0;
    for (let { offset } = request; offset < Math.min(endOffset, total ?? endOffset); ) {
      const max = Math.min(size, endOffset - offset);
      try {
        const page = await read({ ...request, offset, max });
        const hasMoved = total !== undefined && page.total < total;
        ({ total } = page);
        // If rows disappear between two pieces, other rows move to positions that were already read.
        if (hasMoved && restarts < maxRestarts) {
          restarts += 1;
          rows.length = 0;
          ({ offset } = request);
          continue;
        }
        rows.push(...page.items);
        offset += toPageSize(max, page);
        // The server may return pages with fewer rows than requested.
        if (toPageSize(max, page) < max) endOffset = offset;
        fitted += 1;
        // The number of rows grows only after several responses, because each increase would fail if all rows are large.
        if (fitted >= fittedToGrow) [size, fitted] = [2 * size, 0];
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'too_large') throw error;
        fitted = 0;
        size = Math.ceil(max / 2);
        if (max > 1) continue;
        rows.push(undefined);
        offset += 1;
      }
    }
    let next: { row: Item; index: number } | undefined;
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (row === undefined) onLeftOut(next?.row, (next?.index ?? rows.length) - index);
      else next = { row, index };
    }
    return { total: total ?? rows.length, items: rows.filter(isRow), max: endOffset - request.offset };
  };
}

const fittedToGrow = 2;
/** Recounts find rows that are still missing. */
const maxRestarts = 5;

function isRow<Item>(row: Item | undefined): row is Item {
  return row !== undefined;
}
