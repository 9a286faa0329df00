import { isDeepStrictEqual } from 'node:util';
import { type Complaints, didYouMean, type Place, quote, toInnerPlace } from '../../domain/complaint.ts';
import {
  environmentPrefix,
  findByKey,
  type Leaf,
  listLeaves,
  listServerLeaves,
  toSecretVariable,
} from '../declare/catalogue.ts';
import { isOption, type OptionTree, type Settings, toSettingName } from '../declare/option.ts';
import type { CollectorDefaults } from '../declare/options.ts';
import { checkValue } from '../values/value-type.ts';
import type { FileValues } from './file-values.ts';

/** All sources of option values, strongest first. */
export type Sources = {
  readonly flags: ReadonlyMap<string, string | boolean>;
  readonly environment: ReadonlyMap<string, string>;
  readonly file: Pick<FileValues, 'values' | 'faulty'>;
};

/** The sources of a value, weakest first. */
export const origins = ['default', 'file', 'environment', 'flag'] as const;
type Origin = (typeof origins)[number];

export type Resolved = {
  readonly leaf: Leaf;
  readonly value: unknown;
  readonly origin: Origin;
  readonly place: Place | undefined;
  /** True if the value is in the file, but has a complaint already. */
  readonly isFaulty: boolean;
  /** The place of another value in the file, if a variable takes precedence over it. */
  readonly shadowed?: Place | undefined;
};

export type ResolvedTree = ReadonlyMap<string, Resolved>;

export function resolveTree(leaves: readonly Leaf[], sources: Sources, complaints: Complaints): ResolvedTree {
  return new Map(leaves.map((leaf) => [leaf.key, resolveLeaf(leaf, sources, complaints)]));
}

/** Returns the strongest value of an option: flag, environment, file, default. Checks all given values, not only the strongest. */
export function resolveLeaf(leaf: Leaf, { flags, environment, file }: Sources, complaints: Complaints): Resolved {
  const { path = '', flag = '', environment: variable = '', option } = leaf;
  const { type, fallback } = option;
  const given: { raw: unknown; origin: Origin; place: Place }[] = [];
  const add = (origin: Origin, name: string, found: string | boolean | undefined): void => {
    const raw = typeof found === 'string' ? type.fromText(found) : found;
    if (found !== undefined) given.push({ raw, origin, place: { text: name } });
  };
  add('flag', `--${flag}`, flags.get(flag));
  add('environment', variable, environment.get(variable));
  if (path === 'metrics.cicd') add('environment', optIn, environment.get(optIn));
  const written = file.values.get(path);
  if (written !== undefined) given.push({ raw: written.value, origin: 'file', place: written.place });

  const isFaulty = file.faulty.has(path);
  const all = given.map(({ raw, origin, place }): Resolved => {
    const checked = checkValue(type, raw);
    if ('value' in checked) return { leaf, value: checked.value, origin, place, isFaulty };
    for (const { path: inner, atKey, message } of checked.problems)
      complaints.add(toInnerPlace(place, inner, atKey), message);
    return { leaf, value: undefined, origin, place, isFaulty };
  });
  // Defaults are YAML in this source code, so parsing them cannot fail.
  const value = fallback === undefined ? undefined : type.schema.parse(fallback);
  const [first, other] = all;
  const isShadow = first?.origin === 'environment' && other?.origin === 'file';
  if (isShadow && !isDeepStrictEqual(first.value, other.value)) return { ...first, shadowed: other.place };
  return first ?? { leaf, value, origin: 'default', place: undefined, isFaulty };
}

/** Returns a function that complains about an option of a tree, if the option is given. */
export function createComplain(resolved: ResolvedTree, complaints: Complaints) {
  return (key: string, message: string, hint?: string): void => {
    const place = resolved.get(key)?.place;
    if (place !== undefined) complaints.add(place, message, hint);
  };
}

/** Builds the settings of a tree. A value with a complaint is undefined, although its type says otherwise. */
export function toSettings<T extends OptionTree>(tree: T, resolved: ResolvedTree): Settings<T> {
  const build = (node: OptionTree, within: string): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(node).map(([key, inner]) => {
        const here = within + key;
        if (isOption(inner)) return [toSettingName(key, inner.type.kind), resolved.get(here)?.value];
        return [toSettingName(key, 'plain'), build(inner, `${here}.`)];
      }),
    );
  // This cast is safe: the type has the keys and values of the tree.
  return build(tree, '') as Settings<T>;
}

/** Returns the exporter's variables by name. An empty variable counts as unset, because compose files leave variables empty. */
export function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  collectors: readonly CollectorDefaults[],
  complaints: Complaints,
): ReadonlyMap<string, string> {
  const known = new Set([...listLeaves(collectors).flatMap(listVariables), ...listServerVariables()]);
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(environmentPrefix) || value === undefined || value === '') continue;
    const place = /^[A-Za-z0-9_]{1,100}$/.test(name) ? name : quote(name);
    if (known.has(name)) found.set(name, value);
    else if (!isServiceLink(name)) {
      const meant = findByKey(collectors, name.slice(environmentPrefix.length))?.environment;
      const hint = meant === undefined ? (didYouMean(name, known) ?? 'see --help') : `did you mean ${meant}?`;
      complaints.add(place, 'is not a known variable', hint);
    }
  }
  const words = environment[optIn]?.split(',').map((word) => word.trim());
  if (words?.includes('cicd_latest_experimental')) found.set(optIn, 'true');
  return found;
}

/** OpenTelemetry's list of names to use before they are stable. Most words in the list are not for this exporter. */
const optIn = 'OTEL_SEMCONV_STABILITY_OPT_IN';

/** Lists the variables for a single server, including variables that contain a secret. */
export function listServerVariables(): readonly string[] {
  return listServerLeaves('servers[0]').flatMap(listVariables);
}

function listVariables(leaf: Leaf): readonly string[] {
  return [leaf.environment, toSecretVariable(leaf)].filter((name) => name !== undefined);
}

// Kubernetes sets these variables in every pod if there is a Service named automation-exporter.
function isServiceLink(name: string): boolean {
  return /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/.test(name);
}
