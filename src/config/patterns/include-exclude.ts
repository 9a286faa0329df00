import type { LabelPair } from '../values/labels.ts';
import type { Pattern } from './pattern.ts';
import type { Patterns } from './pattern-list.ts';

type Choice = { readonly include: Patterns; readonly exclude: Patterns };

/** Chooses names: those to include, or all if none are listed, except those to exclude. */
export function toChoice({ include, exclude }: Choice): (name: string) => boolean {
  return (name) => (include.sources.length === 0 || include.matches(name)) && !exclude.matches(name);
}

type Override = {
  readonly match: Pattern;
  readonly successAgeMs?: number | undefined;
  readonly overdueFactor?: number | undefined;
  readonly critical?: boolean | undefined;
};

/** Finds the overrides of a job: for each field the first matching entry that has it. */
export function toOverrideChoice(entries: readonly Override[]): {
  readonly successAgeMsOf: (path: string) => number | undefined;
  readonly overdueFactorOf: (path: string) => number | undefined;
  readonly isCritical: (path: string) => boolean;
} {
  const ofAges = entries.filter(({ successAgeMs }) => successAgeMs !== undefined);
  const ofFactors = entries.filter(({ overdueFactor }) => overdueFactor !== undefined);
  const ofSeverity = entries.filter(({ critical }) => critical !== undefined);
  return {
    successAgeMsOf: (path) => ofAges.find(({ match }) => match.matches(path))?.successAgeMs,
    overdueFactorOf: (path) => ofFactors.find(({ match }) => match.matches(path))?.overdueFactor,
    isCritical: (path) => ofSeverity.find(({ match }) => match.matches(path))?.critical ?? false,
  };
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
