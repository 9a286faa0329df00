import { type Leaf, listLeaves, listServerLeaves, toSecretVariable } from './catalogue.ts';
import type { Fallback } from './option.ts';
import type { CollectorDefaults } from './options.ts';

/** One option as `--help` and the reference show it. */
export type HelpRow = {
  /** `--web.listen-address=ADDRESS` or `--[no-]state.memory`. */
  readonly flag: string | undefined;
  readonly env: string;
  /** Its key in the file, such as `servers[].url`. */
  readonly path: string | undefined;
  readonly default: string | undefined;
  readonly help: string;
};

/** Every option once: those of the launch, the general ones, the collectors', then the servers'. */
export function toHelp(collectors: readonly CollectorDefaults[]): readonly HelpRow[] {
  return [...listLeaves(collectors), ...listServerLeaves('servers[]')].flatMap((leaf) => toRows(leaf));
}

function toRows(leaf: Leaf): HelpRow[] {
  const { environment: env, path, option } = leaf;
  const fallback = option.fallback === undefined ? undefined : formatFallback(option.fallback);
  const row: HelpRow = { flag: toUsage(leaf), env, path, default: fallback, help: option.help };
  const secret = toSecretVariable(leaf);
  if (secret === undefined) return [row];
  const help = `The secret itself, in place of ${env}; for a single server.`;
  return [row, { flag: undefined, env: secret, path: undefined, default: undefined, help }];
}

function formatFallback(fallback: Fallback): string {
  return typeof fallback === 'object' ? JSON.stringify(fallback) : String(fallback);
}

function toUsage({ flag, option: { type } }: Leaf): string | undefined {
  if (flag === undefined) return undefined;
  return type.placeholder === undefined ? `--[no-]${flag}` : `--${flag}=${type.placeholder}`;
}
