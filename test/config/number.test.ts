import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

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
  ])('refuses $written requests at once', async ({ written, found }) => {
    const yaml = `servers: [{ url: "http://a", token_file: /run/token, budget: { concurrency: ${written} } }]`;
    expect(await complain({ yaml })).toEqual([
      `config.yaml:1:77 servers[0].budget.concurrency: takes a whole number from 1 to 100, found ${found}`,
    ]);
  });
});
