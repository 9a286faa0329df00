import type { LabelPair } from './labels.ts';
import type { Pattern } from './pattern.ts';
import type { Patterns } from './pattern-list.ts';

type Choice = { readonly include: Patterns; readonly exclude: Patterns };

/** Which names are wanted: any of those to include, or all where there are none, but none of those to exclude. */
export function toChoice({ include, exclude }: Choice): (name: string) => boolean {
  return (name) => (include.sources.length === 0 || include.matches(name)) && !exclude.matches(name);
}

/** The labels of a name: every entry that matches adds its own, and the first to name a label wins. */
export function toLabelChoice(
  entries: readonly { readonly match: Pattern; readonly labels: readonly LabelPair[] }[],
): (name: string) => readonly LabelPair[] {
  return (name) => {
    const found = new Map<string, string>();
    for (const { match, labels } of entries) {
      if (!match.matches(name)) continue;
      for (const [label, value] of labels) if (!found.has(label)) found.set(label, value);
    }
    return [...found];
  };
}
