import { describe, expect, it } from 'vitest';
import { createQueue } from '../../../simulator/engine/queue.ts';
import { createRandom } from '../../../simulator/random.ts';

describe('simulator/engine/queue', () => {
  it('returns items in order of time, and of insertion for the same time', () => {
    const queue = createQueue<string>();
    for (const [atMs, item] of [
      [5, 'e'],
      [1, 'a'],
      [5, 'f'],
      [3, 'c'],
      [1, 'b'],
      [4, 'd'],
    ] as const) {
      queue.push(atMs, item);
    }
    const items = Array.from({ length: 6 }, () => queue.pop()?.item);
    expect(items.join('')).toBe('abcdef');
    expect(queue.pop()).toBeUndefined();
  });

  it('sorts a thousand random times', () => {
    const queue = createQueue<number>();
    const random = createRandom(3);
    for (let count = 0; count < 1000; count += 1) {
      queue.push(Math.floor(random() * 500), count);
    }
    const times = Array.from({ length: 1000 }, () => queue.pop()?.atMs ?? -1);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(queue.size).toBe(0);
  });
});
