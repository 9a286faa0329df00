import { describe, expect, it } from 'vitest';
import { parseInPieces } from '../../src/api/answers/json-pieces.ts';
import { fc } from '../support/property.ts';

let turns = 0;
const pause = async (): Promise<void> => {
  turns += 1;
};
const parse = (text: string | Buffer) => parseInPieces(Buffer.from(text), { pause });
const filler = 'x'.repeat(70_000);

describe('api/json-pieces', () => {
  it('returns the same as JSON.parse for parts of any size', async () => {
    const part = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(filler, [filler, 1], { a: filler, b: [] }, '\\', '"', '\\"', '[{'),
    );
    const value = fc.oneof(
      fc.array(part, { maxLength: 20 }),
      fc.dictionary(fc.string(), part),
      fc.array(fc.array(part)),
    );
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(undefined, 1), async (given, space) => {
        const text = JSON.stringify(given, undefined, space);
        expect(JSON.stringify(await parse(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 200 },
    );
  });

  it.each([`{"__proto__":"${filler}"}`, `{"":"${filler}","__proto__":[1]}`, `{"__proto__":{"a":1},"b":"${filler}"}`])(
    'keeps a member with the name of the prototype (%#)',
    async (text) => {
      const value = await parse(text);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(JSON.stringify(value)).toBe(text);
    },
  );

  it('reads nested large lists with a pause between pieces', async () => {
    const rows = Array.from({ length: 5000 }, (_, id) => ({ id, text: `é "${'y'.repeat(40)}` }));
    const given = { paging: { total: 1 }, executions: rows, steps: [{ nodes: rows }], last: null };
    turns = 0;
    expect(await parse(`\uFEFF ${JSON.stringify(given)} \n`)).toEqual(given);
    expect(turns).toBeGreaterThan(10);
  });

  it.each([
    `[${`"${filler}",`.repeat(3)}]`,
    `["${filler}","a" "b"]`,
    `["${filler}"`,
    `["${filler}]`,
    `{"a":"${filler}",}`,
    `{"a" "${filler}"}`,
    `{a:"${filler}"}`,
    `["${filler}"] []`,
    `["${filler}",tru]`,
    '',
  ])('refuses text that is not JSON (%#)', async (text) => {
    await expect(parse(text)).rejects.toThrow(SyntaxError);
  });

  it.each([
    ['a million empty objects', `[${'{},'.repeat(1_000_000)}{}]`],
    ['a million numbers', `[${'1,'.repeat(1_000_000)}1]`],
    ['lists within lists', '['.repeat(1_000_000)],
    ['lists within long lists', `["${filler}",`.repeat(40)],
  ])('refuses %s', async (_name, text) => {
    await expect(parse(text)).rejects.toMatchObject({ name: 'TooManyValues' });
  });

  it('reads a long text once, however deeply the text is nested', async () => {
    const text = `${'{"a":'.repeat(32)}"${'\\"'.repeat(3_900_000)}"${'}'.repeat(32)}`;
    const before = process.cpuUsage();
    await parse(text);
    const { user } = process.cpuUsage(before);
    // A reader that reads the text once for each level needs seven seconds.
    expect(user / 1e6).toBeLessThan(1.5);
  });
});
