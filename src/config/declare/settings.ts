import { isOption, type OptionTree, type Settings, toSettingName } from './option.ts';

/** Builds the settings of a tree; `valueOf` gets the path of an option. */
export function toSettings<T extends OptionTree>(tree: T, valueOf: (path: string) => unknown): Settings<T> {
  // The cast is true: the type computes the same keys and values from the same tree, which the compiler cannot follow.
  return build(tree, [], valueOf) as Settings<T>;
}

function build(
  tree: OptionTree,
  keys: readonly string[],
  valueOf: (path: string) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(tree).map(([key, node]) => {
      const here = [...keys, key];
      if (isOption(node)) return [toSettingName(key, node.type.kind), valueOf(here.join('.'))];
      return [toSettingName(key, 'plain'), build(node, here, valueOf)];
    }),
  );
}
