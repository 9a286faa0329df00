import { type Complaints, type Place, toInnerPlace } from '../../domain/complaint.ts';
import type { Leaf } from '../declare/catalogue.ts';
import { checkValue } from '../values/value-type.ts';
import type { FileValue } from './file-values.ts';

/** All sources of option values, strongest first. */
export type Sources = {
  readonly flags: ReadonlyMap<string, string | boolean>;
  readonly environment: ReadonlyMap<string, string>;
  readonly file: ReadonlyMap<string, FileValue>;
};

/** The sources of a value, weakest first. */
export const origins = ['default', 'file', 'environment', 'flag'] as const;
export type Origin = (typeof origins)[number];

export type Resolved = { readonly value: unknown; readonly origin: Origin; readonly place: Place | undefined };

/** The names of an option; one that only the file has lacks a variable. */
export type Named = Omit<Leaf, 'environment'> & { readonly environment: string | undefined };

/**
 * Returns the strongest value of an option: flag, environment, file, default. All given values are checked, not only
 * the strongest.
 */
export function resolveLeaf(leaf: Named, sources: Sources, complaints: Complaints): Resolved {
  const given = listGiven(leaf, sources).map(({ raw, place, origin }) => {
    return { value: check(leaf, raw, place, complaints), origin, place };
  });
  return given[0] ?? { value: toDefault(leaf), origin: 'default', place: undefined };
}

/** Resolves many options; the keys are their paths, or their flags if they have no path. */
export function resolveAll(
  leaves: readonly Named[],
  sources: Sources,
  complaints: Complaints,
): ReadonlyMap<string, Resolved> {
  return new Map(leaves.map((leaf) => [leaf.path ?? leaf.flag ?? '', resolveLeaf(leaf, sources, complaints)]));
}

/** Complains that a required option is missing, at the place of what lacks it. */
export function complainMissing(
  leaf: Leaf,
  { place, single }: { place: Place; single: boolean },
  complaints: Complaints,
): void {
  const key = leaf.path?.slice(leaf.path.indexOf('.') + 1) ?? '';
  const example = leaf.option.type.hint(undefined);
  const variable = single ? `or set ${leaf.environment}` : undefined;
  const hints = [example, variable].filter((hint) => hint !== undefined);
  complaints.add(place, `${key} is missing`, hints.length === 0 ? undefined : hints.join(', '));
}

function listGiven({ flag, environment, path, option }: Named, sources: Sources) {
  const given: { raw: unknown; origin: Origin; place: Place }[] = [];
  const flagged = flag === undefined ? undefined : sources.flags.get(flag);
  if (flagged !== undefined) {
    const raw = typeof flagged === 'string' ? option.type.fromText(flagged) : flagged;
    given.push({ raw, origin: 'flag', place: { text: `--${flag}` } });
  }
  const variable = environment === undefined ? undefined : sources.environment.get(environment);
  if (environment !== undefined && variable !== undefined) {
    given.push({ raw: option.type.fromText(variable), origin: 'environment', place: { text: environment } });
  }
  const written = path === undefined ? undefined : sources.file.get(path);
  if (written !== undefined) given.push({ raw: written.value, origin: 'file', place: written.place });
  return given;
}

function check({ option: { type } }: Named, raw: unknown, place: Place, complaints: Complaints): unknown {
  const checked = checkValue(type, raw);
  if ('value' in checked) return checked.value;
  for (const { path, atKey, message, hint } of checked.problems)
    complaints.add(toInnerPlace(place, path, atKey), message, hint);
  return undefined;
}

// Defaults are YAML in the source code, so parsing cannot fail.
function toDefault({ option: { type, fallback } }: Named): unknown {
  return fallback === undefined ? undefined : type.schema.parse(fallback);
}
