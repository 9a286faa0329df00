import {
  isFixed,
  type Leaf,
  listFamilyLeaves,
  listLeaves,
  listServerLeaves,
  listWebFileLeaves,
  toSecretVariable,
} from '../declare/catalogue.ts';
import type { Option } from '../declare/option.ts';
import type { CollectorDefaults } from '../declare/options.ts';

export type HelpRow = {
  /** The flag, such as `--web.listen-address=ADDRESS` or `--[no-]state.memory`. */
  readonly flag: string | undefined;
  readonly env: string;
  /** The key in the file, such as `servers[].url`. */
  readonly path: string | undefined;
  readonly default: string | undefined;
  readonly help: string;
  /** Whether a change takes effect with a reload or only with a restart. */
  readonly reload: 'now' | 'restart';
};

/** Returns every option once: launch, general, collectors, servers. */
export function toHelp(collectors: readonly CollectorDefaults[]): readonly HelpRow[] {
  return [...listLeaves(collectors), ...listServerLeaves('servers[]')].flatMap((leaf) => toRows(leaf));
}

type FieldHelp = { readonly path: string; readonly default: string | undefined; readonly help: string };

export function toFileHelp(): readonly FieldHelp[] {
  return listFamilyLeaves('<family>').map(toField);
}

export function toWebFileHelp(): readonly FieldHelp[] {
  return listWebFileLeaves().map(toField);
}

function toField({ path = '', option }: Leaf): FieldHelp {
  return { path, default: toDefault(option), help: option.help };
}

function toRows(leaf: Leaf): HelpRow[] {
  const { environment: env = '', path, option } = leaf;
  const row: HelpRow = {
    flag: toUsage(leaf),
    env,
    path,
    default: toDefault(option),
    help: option.help,
    reload: isFixed(leaf) ? 'restart' : 'now',
  };
  const secret = toSecretVariable(leaf);
  if (secret === undefined) return [row];
  const help = `The secret itself, in place of ${env}; for a single server.`;
  return [row, { flag: undefined, env: secret, path: undefined, default: undefined, help, reload: 'now' }];
}

function toDefault({ fallback }: Option<unknown>): string | undefined {
  if (fallback === undefined) return undefined;
  return typeof fallback === 'object' ? JSON.stringify(fallback) : String(fallback);
}

function toUsage({ flag, option: { type } }: Leaf): string | undefined {
  if (flag === undefined) return undefined;
  return type.placeholder === undefined ? `--[no-]${flag}` : `--${flag}=${type.placeholder}`;
}
