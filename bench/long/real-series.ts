/** The values of one scrape. */
export type Series = { readonly of: (name: string) => readonly Sample[]; readonly names: readonly string[] };
export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

export async function readSeries(exporterUrl: string): Promise<Series> {
  const text = await (await fetch(`${exporterUrl}/metrics`)).text();
  const all = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, , labels = '', value] = /^([a-zA-Z_:][\w:]*)(\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const sample = { labels: readLabels(labels), value: Number(value.replace('Inf', 'Infinity')) };
    const before = all.get(name);
    if (before === undefined) all.set(name, [sample]);
    else before.push(sample);
  }
  return { of: (name) => all.get(name) ?? [], names: [...all.keys()] };
}

function readLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
    labels[name] = value.replaceAll(/\\(.)/g, (_all, letter: string) => (letter === 'n' ? '\n' : letter));
  return labels;
}
