import { describe, expect, it } from 'vitest';
import { explainFault, isDamage, isReadOnly } from '../../src/state/explain-fault.ts';

describe('state/explain-fault', () => {
  it.each([
    [{ code: 'ENOSPC' }, 'the disk is full; '],
    [{ errcode: 5 }, 'another process uses the state; '],
    [{ errcode: 0x2_05 }, 'another process uses the state; '],
    [{ errcode: 13 }, 'the disk is full; '],
    [{ errcode: 11 }, 'the state is damaged; '],
    [{ errcode: 26 }, 'the state is damaged; '],
    [{ errcode: 8 }, 'no permission; '],
    [{ code: 'EACCES' }, 'no permission; '],
    [{ code: 'ENOENT' }, 'no permission; '],
    [{ code: 'EROFS' }, 'the file system is read-only; '],
    [{ code: 'EPERM' }, 'no permission; '],
    [{ errcode: 14 }, 'no permission; '],
    [{ errcode: 0x3_08 }, 'no permission; '],
    [{ code: 'EEXIST' }, 'the path is not a directory; '],
    [{ code: 'ENOTDIR' }, 'the path is not a directory; '],
    [{ code: 'EIO', message: 'i/o error' }, 'i/o error'],
    [{}, 'unknown error'],
  ])('explains the error %o', (error, start) => {
    expect(explainFault(error).slice(0, start.length)).toBe(start);
  });

  it('treats only unreadable files and files with wrong tables as damaged', () => {
    const codes = Array.from({ length: 30 }, (_, errcode) => errcode);
    expect(codes.filter((errcode) => isDamage({ errcode }))).toEqual([1, 11, 18, 20, 26]);
    expect(codes.filter((errcode) => isReadOnly({ errcode }))).toEqual([8]);
    expect([isReadOnly({ errcode: 0x1_08 }), isReadOnly({ code: 'EROFS' })]).toEqual([true, false]);
    expect([isDamage({ errcode: 0x1_0b }), isDamage({ code: 'EIO' })]).toEqual([true, false]);
  });
});
