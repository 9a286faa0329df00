import type { Mutant } from './mutants.ts';
import type { Result } from './results.ts';

/** A mutant whose change nobody can notice. */
export type Equivalent = {
  readonly id: string;
  readonly file: string;
  readonly code: string;
  readonly change: string;
  readonly reason: string;
};

export type Tried = { readonly mutant: Mutant; readonly result: Result };

/** Returns the score of a room, and the survivors with their commands. */
export function reportOf(room: string, tried: readonly Tried[], equivalents: readonly Equivalent[]): string {
  const known = new Set(equivalents.map(({ id }) => id));
  const survivors = tried.filter(({ result }) => result.outcome === 'survived');
  const open = survivors.filter(({ mutant }) => !known.has(mutant.id));
  const noticed = tried.filter(({ result }) => result.outcome === 'noticed').length;
  const refused = tried.filter(({ result }) => result.outcome === 'refused').length;
  const lost = tried.filter(({ result }) => result.outcome === 'lost');
  const counted = noticed + open.length;
  const score = counted === 0 ? '–' : `${((100 * noticed) / counted).toFixed(1)} %`;
  const lines = [
    `${room}: ${score}, ${noticed} of ${counted} noticed (of ${tried.length} tried, ${refused} are refused by the types, ${survivors.length - open.length} are equivalent, ${lost.length} were not measured)`,
    ...open.map(({ mutant }) => againText('survived', mutant)),
    ...lost.map(({ mutant, result }) => againText(`not measured (${result.by ?? ''})`, mutant)),
  ];
  return lines.join('\n');
}

/** Describes a change in one line. */
export function changeText({ original, replacement }: Mutant): string {
  return `${shorten(original)} → ${replacement === '' ? 'nothing' : shorten(replacement)}`;
}

/** Returns the rows of `equivalent.json` whose mutants no longer exist, because their lines were rewritten. */
export function staleRows(equivalents: readonly Equivalent[], mutants: readonly Mutant[]): readonly Equivalent[] {
  const ids = new Set(mutants.map(({ id }) => id));
  return equivalents.filter(({ id }) => !ids.has(id));
}

function againText(outcome: string, mutant: Mutant): string {
  return [
    `  ${outcome} ${mutant.file}:${mutant.line}  ${changeText(mutant)}`,
    `    ${mutant.code}`,
    `    npm run mutate -- --only=${mutant.id}`,
  ].join('\n');
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}
