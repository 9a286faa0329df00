/** The series of a scrape, as written, with their values. Throws if there is a duplicate series. */
export function toSeries(text: string): ReadonlyMap<string, number> {
  const series = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const end = line.lastIndexOf(' ');
    const name = line.slice(0, end);
    if (series.has(name)) throw new Error(`twice in one scrape: ${name}`);
    series.set(name, Number(line.slice(end + 1)));
  }
  return series;
}

/** The series that contain all these texts. */
export function seriesWith(series: ReadonlyMap<string, number>, ...texts: readonly string[]): string[] {
  return [...series.keys()].filter((name) => texts.every((text) => name.includes(text)));
}

/** Scrapes repeatedly until the given work ends. */
export async function scrapeDuring(scrape: () => Promise<string>, work: Promise<unknown>): Promise<string[]> {
  const over = new AbortController();
  const end = work.finally(() => over.abort());
  const texts: string[] = [];
  while (!over.signal.aborted) texts.push(await scrape());
  await end;
  texts.push(await scrape());
  return texts;
}
