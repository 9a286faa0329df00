import { expect } from 'vitest';
import { fc } from '../support/property.ts';

/** The visible text of a page, one line per block; bars separate cells. */
export function toText(page: string): string {
  const [, main = ''] = /<main[^>]*>(.*)<\/main>/s.exec(page) ?? [];
  return main
    .replaceAll('\n', ' ')
    .replaceAll(/<svg.*?<\/svg>/gs, '')
    .replaceAll(/<pre.*?<\/pre>/gs, '')
    .replaceAll(/<span class="why">(.*?)<\/span>/g, ' ($1)')
    .replaceAll(/<\/(td|th)><t/g, ' | <t')
    .replaceAll(/<\/dt>/g, ': ')
    .replaceAll(
      /<\/?(h1|h2|h3|p|li|tr|div|section|details|summary|figure|figcaption|dl|ul|thead|tbody|table)\b[^>]*>/g,
      '\n',
    )
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#34;', '"')
    .replaceAll('  (', ' (')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** Returns true if no text of a page opens a tag; otherwise throws the text. */
export async function isEscaped(read: (text: string) => Promise<string>, numRuns = 50): Promise<boolean> {
  const countTags = async (text: string): Promise<number> => (await read(text)).split('<').length;
  const harmless = await countTags('x');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }), async (text) => {
      expect(await countTags(`${text}<script>"'`)).toBe(harmless);
    }),
    { numRuns },
  );
  return true;
}
