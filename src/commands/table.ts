/** Rows in columns as wide as they have to be; the last one is not filled up. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, { length }] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, length);
  }
  const toLine = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${toLine(row)}\n`).join('');
}
