import { describe, expect, it } from 'vitest';
import { isInShard } from '../../src/config/values/number.ts';
import { complain, loadIn } from './fixtures.ts';

const names = Array.from({ length: 300 }, (_, index) => `server-${index}`);

describe('config/shard', () => {
  it.each([1, 2, 3, 7])('assigns each server to exactly one of %i shards, and each shard its share', (count) => {
    const shards = Array.from({ length: count }, (_, place) => ({ index: place + 1, count }));
    const sizes = shards.map((shard) => names.filter((name) => isInShard(name, shard)).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300);
    for (const name of names) expect(shards.filter((shard) => isInShard(name, shard))).toHaveLength(1);
    for (const size of sizes) expect(size).toBeGreaterThan(300 / count / 2);
  });

  it('moves servers only to the added shard', () => {
    for (const index of [1, 2, 3]) {
      const moved = names.filter(
        (name) => isInShard(name, { index, count: 3 }) && !isInShard(name, { index, count: 4 }),
      );
      expect(moved.length).toBeGreaterThan(5);
      expect(moved.filter((name) => !isInShard(name, { index: 4, count: 4 }))).toEqual([]);
    }
  });

  it('leaves servers of other shards out of the configuration, and reports their number', async () => {
    const servers = ['a', 'b', 'c', 'd', 'e'];
    const yaml = `servers:\n${servers.map((name) => `  - { name: ${name}, url: 'https://${name}.example.org', token_file: /run/token }\n`).join('')}`;
    const shards = await Promise.all(['1/2', '2/2'].map((text) => loadIn({ yaml, argv: [`--shard=${text}`] })));
    const found = shards.map((loaded) => {
      if (!loaded.ok) throw new Error('it is refused');
      return { names: loaded.config.servers.map(({ name }) => name), others: loaded.otherServers };
    });
    expect(found.flatMap((each) => each.names).toSorted()).toEqual(servers);
    for (const { names: own, others } of found) expect(own.length + others).toBe(5);
  });

  it.each([
    ['0/3', 'is not a shard'],
    ['3', 'is not a shard'],
    ['4/3', 'has only the shards 1/3 to 3/3'],
  ])('refuses %s', async (text, message) => {
    expect(await complain({ argv: [`--shard=${text}`] })).toEqual([expect.stringContaining(message)]);
  });
});
