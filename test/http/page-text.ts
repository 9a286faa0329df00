/** The visible text of a page: one line for each block, with bars between the cells of a table. */
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
