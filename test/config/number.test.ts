import { describe, expect, it } from 'vitest';
import { isInShard } from '../../src/config/values/number.ts';
import { complain, load, loadIn } from './fixtures.ts';

const server = { AUTOMATION_EXPORTER_URL: 'http://localhost:4440', AUTOMATION_EXPORTER_TOKEN: 'k3y' };

describe('config/number', () => {
  it.each([
    { written: '0.1', expected: 0.1 },
    { written: '7', expected: 7 },
    { written: '2.5', expected: 2.5 },
    { written: '1000', expected: 1000 },
  ])('accepts $written requests a second', async ({ written, expected }) => {
    const env = { ...server, AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: written };
    const { config } = await load({ env });
    expect(config.servers[0]?.budget).toEqual({ requestsPerSecond: expected, concurrency: 4 });
  });

  it.each([
    { written: '0', found: 'the number 0' },
    { written: '0.09', found: 'the number 0.09' },
    { written: '1000.5', found: 'the number 1000.5' },
    { written: '-1', found: 'the text "-1"' },
    { written: '1e3', found: 'the text "1e3"' },
    { written: '10/s', found: 'the text "10/s"' },
    { written: 'Infinity', found: 'the text "Infinity"' },
  ])('refuses $written requests a second', async ({ written, found }) => {
    const env = { ...server, AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: written };
    expect(await complain({ env })).toEqual([
      `AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: takes a number from 0.1 to 1000, found ${found}`,
    ]);
  });

  it.each([
    { written: '0', found: 'the number 0' },
    { written: '101', found: 'the number 101' },
    { written: '2.5', found: 'the number 2.5' },
    { written: '.nan', found: 'the number NaN' },
    { written: '.inf', found: 'the number Infinity' },
    { written: '"4"', found: 'the text "4"' },
    { written: '[4]', found: 'a list' },
  ])('refuses $written simultaneous requests', async ({ written, found }) => {
    const yaml = `servers: [{ url: "http://a", token_file: /run/token, budget: { concurrency: ${written} } }]`;
    expect(await complain({ yaml })).toEqual([
      `config.yaml:1:77 servers[0].budget.concurrency: takes a whole number from 1 to 100, found ${found}`,
    ]);
  });
});

const names = Array.from({ length: 300 }, (_, index) => `server-${index}`);

describe('config/shard', () => {
  it.each([1, 2, 3, 7])('assigns each server to one of %i shards of about the same size', (count) => {
    const shards = Array.from({ length: count }, (_, place) => ({ index: place + 1, count }));
    const sizes = shards.map((shard) => names.filter((name) => isInShard(name, shard)).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300);
    for (const name of names) expect(shards.filter((shard) => isInShard(name, shard))).toHaveLength(1);
    for (const size of sizes) expect(size).toBeGreaterThan(300 / count / 2);
  });

  it('moves servers only to a new shard', () => {
    for (const index of [1, 2, 3]) {
      const moved = names.filter(
        (name) => isInShard(name, { index, count: 3 }) && !isInShard(name, { index, count: 4 }),
      );
      expect(moved.length).toBeGreaterThan(5);
      expect(moved.filter((name) => !isInShard(name, { index: 4, count: 4 }))).toEqual([]);
    }
  });

  it('omits servers of other shards, and reports their number', async () => {
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
