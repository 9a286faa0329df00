import { isOption, type Option, type OptionTree } from './option.ts';
import {
  type CollectorDefaults,
  defineCollectorOptions,
  type FamilyFacts,
  familyOptions,
  fixedPaths,
  generalOptions,
  launchOptions,
  otherFlags,
} from './options.ts';
import { serverOptions } from './server-options.ts';
import { webFileOptions } from './web-file-options.ts';

export type Leaf = {
  /** The place of the option in its tree, such as `tls.ca_file`. */
  readonly key: string;
  /** The place of the option in the file, such as `web.listen_address`; undefined if it cannot be in the file. */
  readonly path: string | undefined;
  /** The flag of the option without the dashes, such as `web.listen-address`; undefined if it has none. */
  readonly flag: string | undefined;
  /** The variable of the option; undefined if the option is only in a file. */
  readonly environment: string | undefined;
  readonly option: Option<unknown>;
};

export const environmentPrefix = 'AUTOMATION_EXPORTER_';

export function listLeaves(collectors: readonly CollectorDefaults[]): readonly Leaf[] {
  return [...listLaunchLeaves(), ...listGeneralLeaves(), ...collectors.flatMap(listCollectorLeaves)];
}

/** Finds an option that was written as a flag but named by its key in the file, such as `--collectors.ping.enabled`. */
export function findByKey(collectors: readonly CollectorDefaults[], text: string): Leaf | undefined {
  const toWords = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '_').toLowerCase();
  return listLeaves(collectors).find(({ path }) => path !== undefined && toWords(path) === toWords(text));
}

export function listLaunchLeaves(): readonly Leaf[] {
  return toLeaves(launchOptions).map((leaf) => ({ ...leaf, path: undefined }));
}

export function listGeneralLeaves(): readonly Leaf[] {
  return toLeaves(generalOptions);
}

/** Lists the options of a collector. The switch of a collector is `--collector.<name>`, as in other exporters. */
export function listCollectorLeaves(collector: CollectorDefaults): readonly Leaf[] {
  const { name } = collector;
  return toLeaves(defineCollectorOptions(collector)).map(({ key, option }) => {
    const names = toNames(key === 'enabled' ? `collector.${name}` : `collector.${name}.${key}`);
    return { ...names, key, option, path: `collectors.${name}.${key}` };
  });
}

/** Lists the options of a server by its place in the list. The variables are for a single server. */
export function listServerLeaves(path: string): readonly Leaf[] {
  return toLeaves(serverOptions).map((leaf) => ({ ...leaf, flag: undefined, path: `${path}.${leaf.key}` }));
}

export function listFamilyLeaves(family: string): readonly Leaf[] {
  return listFileLeaves(familyOptions).map((leaf) => ({ ...leaf, path: `metrics.${family}.${leaf.key}` }));
}

export function listWebFileLeaves(): readonly Leaf[] {
  return listFileLeaves(webFileOptions);
}

/** Returns the variable for the secret itself, not for the path of a file. */
export function toSecretVariable({ environment, option }: Leaf): string | undefined {
  return option.type.kind === 'secret' ? environment?.replace(/_FILE$/, '') : undefined;
}

/** Reports whether a change takes effect only with a restart. */
export function isFixed({ path = '' }: Leaf): boolean {
  return fixedPaths.some((fixed) => path === fixed || path.startsWith(`${fixed}.`));
}

/** The tree of everything that the configuration file can contain. `servers` is a list. */
export function toFileTree(collectors: readonly CollectorDefaults[], families: readonly FamilyFacts[]): OptionTree {
  return {
    servers: serverOptions,
    collectors: Object.fromEntries(collectors.map((collector) => [collector.name, defineCollectorOptions(collector)])),
    ...generalOptions,
    metrics: { ...generalOptions.metrics, ...Object.fromEntries(families.map(({ name }) => [name, familyOptions])) },
  };
}

function listFileLeaves(tree: OptionTree): Leaf[] {
  return toLeaves(tree).map((leaf) => ({ ...leaf, flag: undefined, environment: undefined }));
}

function toLeaves(tree: OptionTree, within = ''): Leaf[] {
  return Object.entries(tree).flatMap(([name, node]) => {
    const key = within + name;
    return isOption(node) ? [{ key, path: key, ...toNames(key), option: node }] : toLeaves(node, `${key}.`);
  });
}

function toNames(key: string): { flag: string; environment: string } {
  const flag = otherFlags.get(key) ?? key.replaceAll('_', '-');
  return { flag, environment: environmentPrefix + flag.replace(/[.-]/g, '_').toUpperCase() };
}
