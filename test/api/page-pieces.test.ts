import { describe, expect, it } from 'vitest';
import { inPieces } from '../../src/api/answers/page-pieces.ts';
import { ApiError } from '../../src/api/errors.ts';
import type { PageRequest } from '../../src/api/paging.ts';

/** A list of rows with these sizes in bytes, and a limit of bytes for each response. */
function setUp(sizes: readonly number[], maxBytes: number) {
  const asked: string[] = [];
  const leftOut: string[] = [];
  const read = async ({ offset, max }: PageRequest) => {
    const items = sizes.slice(offset, offset + max).map((size, index) => ({ id: offset + index, size }));
    const bytes = items.reduce((sum, { size }) => sum + size, 0);
    asked.push(`${offset}+${max}${bytes > maxBytes ? ' too large' : ''}`);
    if (bytes > maxBytes) throw new ApiError('too large', { kind: 'too_large', apiEndpoint: 'rows' });
    return { total: sizes.length, items };
  };
  const pieces = inPieces(read, (next, distance) => leftOut.push(`${distance} before ${next?.id}`));
  return {
    asked,
    leftOut,
    ids: async (max: number, offset = 0) => {
      const { total, items } = await pieces({ beginMs: 0, endMs: 1, max, offset });
      return `${items.map(({ id }) => id).join(' ')} of ${total}`;
    },
  };
}

describe('api/page-pieces', () => {
  it('sends one request if the page fits', async () => {
    const { ids, asked } = setUp([1, 1, 1], 10);
    expect(await ids(8)).toBe('0 1 2 of 3');
    expect(asked).toEqual(['0+8']);
  });

  it('halves the page until it fits', async () => {
    const { ids, asked, leftOut } = setUp([5, 5, 5, 5, 5, 5], 10);
    expect(await ids(8)).toBe('0 1 2 3 4 5 of 6');
    expect(asked).toEqual(['0+8 too large', '0+4 too large', '0+2', '2+2', '4+4']);
    expect(leftOut).toEqual([]);
  });

  it('omits a row that is too large for one response', async () => {
    const { ids, asked, leftOut } = setUp([1, 1, 99, 1, 1, 1, 1, 1], 10);
    expect(await ids(8)).toBe('0 1 3 4 5 6 7 of 8');
    expect(leftOut).toEqual(['1 before 3']);
    expect(asked).toEqual([
      '0+8 too large',
      '0+4 too large',
      '0+2',
      '2+2 too large',
      '2+1 too large',
      '3+1',
      '4+1',
      '5+2',
      '7+1',
    ]);
  });

  it('reports too large rows at the end of a list', async () => {
    const last = setUp([1, 99], 10);
    expect(await last.ids(2)).toBe('0 of 2');
    expect(last.leftOut).toEqual(['1 before undefined']);
    const alone = setUp([99], 10);
    expect(await alone.ids(4)).toBe(' of 1');
    expect(alone.leftOut).toEqual(['1 before undefined']);
  });

  it('reports several rows that are too large', async () => {
    const { ids, leftOut } = setUp([99, 99, 1, 99], 10);
    expect(await ids(8)).toBe('2 of 4');
    expect(leftOut).toEqual(['1 before undefined', '1 before 2', '2 before 2']);
  });

  it('starts with the page size that fitted before', async () => {
    const { ids, asked } = setUp([5, 5, 5, 5], 10);
    await ids(4);
    asked.length = 0;
    await ids(2, 2);
    expect(asked).toEqual(['2+2']);
  });

  it('reads all pages again when rows vanish between two pages', async () => {
    const rows = Array.from({ length: 60 }, (_, id) => ({ id }));
    let deletions = 1;
    const read = async ({ offset, max }: PageRequest) => {
      if (max > 20) throw new ApiError('too large', { kind: 'too_large', apiEndpoint: 'rows' });
      if (offset > 0 && deletions-- > 0) rows.shift();
      return { total: rows.length, items: rows.slice(offset, offset + max) };
    };
    const ids = async () =>
      (await inPieces(read, () => undefined)({ beginMs: 0, endMs: 1, max: 60, offset: 0 })).items.map(({ id }) => id);
    expect(await ids()).toEqual(expect.arrayContaining(rows.map(({ id }) => id)));
    deletions = 1000;
    expect((await ids()).length).toBeGreaterThan(40);
  });

  it('distinguishes other errors from a response that is too large', async () => {
    const read = async (): Promise<never> => {
      throw new ApiError('busy', { kind: 'busy', apiEndpoint: 'rows' });
    };
    await expect(inPieces(read, () => undefined)({ beginMs: 0, endMs: 1, max: 8, offset: 0 })).rejects.toThrow('busy');
  });
});
