import { describe, expect, it } from 'vitest';
import { createFileLook } from '../../src/api/file-look.ts';

/** Watches one file; the test sets the result of reading it. */
function setUp() {
  let ticks = 0;
  let looks = 0;
  const file: { holds: 'new' | 'old' | Error } = { holds: 'old' };
  const told: string[] = [];
  const look = createFileLook({
    files: [
      {
        name: 'tls',
        refresh: async () => {
          looks += 1;
          if (file.holds instanceof Error) throw file.holds;
          return file.holds === 'new';
        },
      },
    ],
    clock: { ticks: () => ticks },
    observe: (name, change) => told.push([name, ...Object.values(change)].join(' ')),
  });
  return {
    file,
    told,
    looks: () => looks,
    lookAfter: async (ms: number) => {
      ticks += ms;
      look();
      await new Promise(setImmediate);
    },
  };
}

describe('api/file-look', () => {
  it('checks files at most every ten seconds', async () => {
    const { lookAfter, looks } = setUp();
    for (const ms of [0, 9999, 1, 0, 5000, 4999]) await lookAfter(ms);
    expect(looks()).toBe(1);
    await lookAfter(1);
    expect(looks()).toBe(2);
  });

  it('reports only new content', async () => {
    const { file, lookAfter, told } = setUp();
    await lookAfter(10_000);
    file.holds = 'new';
    await lookAfter(10_000);
    expect(told).toEqual(['tls taken']);
  });

  it('reports an unusable file once, at the second check', async () => {
    const { file, lookAfter, told } = setUp();
    file.holds = new Error('a half of it');
    await lookAfter(10_000);
    expect(told).toEqual([]);
    await lookAfter(10_000);
    await lookAfter(10_000);
    expect(told).toEqual(['tls rejected a half of it']);
    file.holds = new Error('gone');
    await lookAfter(10_000);
    await lookAfter(10_000);
    expect(told.slice(1)).toEqual(['tls rejected gone']);
    file.holds = 'new';
    await lookAfter(10_000);
    file.holds = new Error('gone');
    await lookAfter(10_000);
    expect(told.slice(2)).toEqual(['tls taken']);
    await lookAfter(10_000);
    expect(told.slice(3)).toEqual(['tls rejected gone']);
  });

  it('reports nothing while a certificate and its key are replaced', async () => {
    const { file, lookAfter, told } = setUp();
    file.holds = new Error('contains a key that does not belong to the certificate');
    await lookAfter(10_000);
    file.holds = 'new';
    await lookAfter(10_000);
    expect(told).toEqual(['tls taken']);
  });
});
