import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { createProjectList } from '../../src/api/project-list.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** A project list; the test controls its responses and its clock. */
function setUp(hasModes = false) {
  let nowMs = 0;
  const asked: string[] = [];
  const waiting: { readonly resolve: (list: readonly unknown[]) => void; readonly reject: (error: Error) => void }[] =
    [];
  const get = (endpoint: { readonly since: number }, input?: { readonly query?: { readonly meta?: string } }) => {
    asked.push(`v${endpoint.since} meta=${input?.query?.meta ?? ''}`);
    return new Promise<readonly unknown[]>((resolve, reject) => waiting.push({ resolve, reject }));
  };
  // This cast is safe: a list uses only these functions.
  const api = { get, supports: async () => hasModes } as unknown as Api;
  const list = createProjectList({
    isWanted: (project) => project !== 'hidden',
    clock: fakeClock({ now: () => nowMs, ticks: () => nowMs }),
  });
  const heard: string[] = [];
  list.onRead((names) => heard.push([...names].join(' ')));
  return {
    asked,
    heard,
    emptySinceMs: list.emptySinceMs,
    read: async () => (await list.read(api)).map(({ name }) => name).join(' '),
    readDated: async (sinceTicks?: number) => {
      const { projects, askedTicks } = await list.readDated(api, sinceTicks);
      return `${projects.map(({ name }) => name).join(' ')} at ${askedTicks}`;
    },
    later: (ms: number) => {
      nowMs += ms;
    },
    /** Sends the response to the oldest waiting request. */
    answer: async (...names: readonly string[]) => {
      await settle();
      waiting.shift()?.resolve(names.map((name) => ({ name })));
      await settle();
    },
    fail: async () => {
      await settle();
      waiting.shift()?.reject(new Error('gone'));
      await settle();
    },
  };
}

/** Lets resolved promises pass through several microtasks. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('api/project-list', () => {
  it('sends one request for all concurrent callers', async () => {
    const { read, answer, later, asked, heard } = setUp();
    const both = [read(), read()];
    await answer('a', 'hidden', 'b');
    expect(await Promise.all(both)).toEqual(['a b', 'a b']);
    later(14_999);

    expect(await read()).toBe('a b');
    expect(asked).toEqual(['v14 meta=']);
    expect(heard).toEqual(['a b']);
  });

  it('sends another request for later callers', async () => {
    const { read, answer, later, heard } = setUp();
    const first = read();
    await answer('a');
    expect(await first).toBe('a');
    later(15_000);
    const second = read();
    await answer('b');

    expect(await second).toBe('b');
    expect(heard).toEqual(['a', 'b']);
  });

  it('reports since when the server has shown no project', async () => {
    const { read, answer, later, emptySinceMs } = setUp();
    const since: unknown[] = [];
    for (const names of [[], [], ['hidden'], []]) {
      later(15_000);
      const list = read();
      await answer(...names);
      await list;
      since.push(emptySinceMs());
    }
    expect(since).toEqual([15_000, 15_000, undefined, 60_000]);
  });

  it('requests the modes with the list if the server supports this', async () => {
    const { read, answer, asked } = setUp(true);
    const list = read();
    await answer('a');

    expect(await list).toBe('a');
    expect(asked).toEqual(['v47 meta=config']);
  });

  it('waits for a slow response instead of sending a second request', async () => {
    // A late first response could bring back deleted projects.
    const { read, answer, later, asked, heard } = setUp();
    const first = read();
    later(20_000);
    const second = read();
    await answer('a');

    expect(await Promise.all([first, second])).toEqual(['a', 'a']);
    expect(asked).toEqual(['v14 meta=']);
    expect(heard).toEqual(['a']);
  });

  it('returns the time at which a shared list was requested', async () => {
    const { readDated, answer, later } = setUp();
    later(1000);
    const first = readDated();
    later(2000);
    await answer('a');
    later(3000);
    expect([await first, await readDated()]).toEqual(['a at 1000', 'a at 1000']);
  });

  it('requests a newer list for a caller that needs it', async () => {
    const { readDated, answer, later, asked } = setUp();
    const first = readDated();
    later(1000);
    const second = readDated(1000);
    await answer('a');
    later(500);
    await answer('b');
    expect([await first, await second]).toEqual(['a at 0', 'b at 1000']);
    expect(await readDated(1000)).toBe('b at 1000');
    expect(asked).toHaveLength(2);
  });

  it('does not return the error of one caller to the next caller', async () => {
    const { read, answer, fail, heard } = setUp();
    const failing = [read(), read()].map((list) => expect(list).rejects.toThrow('gone'));
    await fail();
    await Promise.all(failing);
    const next = read();
    await answer('a');

    expect(await next).toBe('a');
    expect(heard).toEqual(['a']);
  });
});
