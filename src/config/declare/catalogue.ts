import { isOption, type Option, type OptionTree } from './option.ts';
import {
  type CollectorDefaults,
  defineCollectorOptions,
  familyOptions,
  generalOptions,
  launchOptions,
  serverOptions,
} from './options.ts';
import { webFileOptions } from './web-file-options.ts';

export type Leaf = {
  /** Its place in the file, such as `web.listen_address`; undefined if it cannot be in the file. */
  readonly path: string | undefined;
  /** Its flag without the dashes, such as `web.listen-address`; undefined if it has none. */
  readonly flag: string | undefined;
  readonly environment: string;
  readonly option: Option<unknown>;
};

export const environmentPrefix = 'AUTOMATION_EXPORTER_';

export function listLeaves(collectors: readonly CollectorDefaults[]): readonly Leaf[] {
  return [...listLaunchLeaves(), ...listGeneralLeaves(), ...collectors.flatMap(listCollectorLeaves)];
}

export function listLaunchLeaves(): readonly Leaf[] {
  return toLeaves(launchOptions, []).map(({ keys, option }) => ({ ...toNames(keys, option), path: undefined }));
}

export function listGeneralLeaves(): readonly Leaf[] {
  return toLeaves(generalOptions, []).map(({ keys, option }) => toNames(keys, option));
}

/** The switch of a collector is `--collector.<name>`, as in other exporters. */
export function listCollectorLeaves(collector: CollectorDefaults): readonly Leaf[] {
  return toLeaves(defineCollectorOptions(collector), []).map(({ keys, option }) => {
    const path = ['collectors', collector.name, ...keys].join('.');
    const nameKeys = keys[0] === 'enabled' ? [] : keys;
    return { ...toNames(['collector', collector.name, ...nameKeys], option), path };
  });
}

/** The options of the server at a place of the list; the variables are those of the single-server form. */
export function listServerLeaves(path: string): readonly Leaf[] {
  return toLeaves(serverOptions, []).map(({ keys, option }) => {
    return { ...toNames(keys, option), flag: undefined, path: `${path}.${keys.join('.')}` };
  });
}

export function listFamilyLeaves(family: string): readonly (Omit<Leaf, 'environment'> & { environment: undefined })[] {
  return toLeaves(familyOptions, []).map(({ keys, option }) => {
    return { path: ['metrics', family, ...keys].join('.'), flag: undefined, environment: undefined, option };
  });
}

/** The options of the file of `--web.config.file`. */
export function listWebFileLeaves(): readonly (Omit<Leaf, 'environment'> & { environment: undefined })[] {
  return toLeaves(webFileOptions, []).map(({ keys, option }) => {
    return { path: keys.join('.'), flag: undefined, environment: undefined, option };
  });
}

/** Returns the variable for a secret itself, beside the one for the path of its file. */
export function toSecretVariable({ environment, option }: Leaf): string | undefined {
  return option.type.kind === 'secret' ? environment.replace(/_FILE$/, '') : undefined;
}

function toNames(keys: readonly string[], option: Option<unknown>): Leaf {
  const path = keys.join('.');
  const flag = option.flag ?? path.replaceAll('_', '-');
  return { path, flag, environment: environmentPrefix + flag.replace(/[.-]/g, '_').toUpperCase(), option };
}

function toLeaves(tree: OptionTree, keys: readonly string[]): { keys: readonly string[]; option: Option<unknown> }[] {
  return Object.entries(tree).flatMap(([key, node]) => {
    const here = [...keys, key];
    return isOption(node) ? [{ keys: here, option: node }] : toLeaves(node, here);
  });
}
