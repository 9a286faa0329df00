export type Options = ReadonlyMap<string, string>;

/** Reads arguments such as `--seed=6` by name. */
export function readOptions(args: readonly string[]): Options {
  return new Map(
    args.map((argument): [string, string] => {
      const [name = '', ...value] = argument.replace(/^--/, '').split('=');
      return [name, value.join('=')];
    }),
  );
}
