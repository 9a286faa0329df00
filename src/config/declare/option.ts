import type { Secret } from '../../domain/secret.ts';
import type { Kind, ValueType } from '../values/value-type.ts';

const mark = Symbol('option');

/** The names, the help and the reference of an option follow from this declaration and the place in the tree. */
export type Option<T, K extends Kind = Kind> = {
  readonly [mark]: true;
  readonly type: ValueType<T, K>;
  /** The default, written as in YAML. */
  readonly fallback: Fallback | undefined;
  readonly required: boolean;
  readonly help: string;
};

/** A default. A list or map can only be empty or contain plain words. */
type Fallback = string | number | boolean | readonly string[] | { readonly [key: string]: never };

export type OptionTree = { readonly [key: string]: OptionTree | Option<unknown> };

/** The settings of a tree of options: keys in camel case, durations in milliseconds, secrets read from their files. */
export type Settings<T extends OptionTree> = {
  readonly [K in keyof T & string as SettingName<K, Declared<T[K]>>]: Declared<T[K]> extends Option<infer V, infer M>
    ? M extends 'secret'
      ? Secret | Extract<V, undefined>
      : V
    : Declared<T[K]> extends OptionTree
      ? Settings<Declared<T[K]>>
      : never;
};

// Optional parts of a tree are optional in its settings.
type Declared<N> = Exclude<N, undefined>;

/** A declared option that still lacks its help text. */
type Unhelped<O> = { readonly help: (help: string) => O };

/** Declares an option with a default, written as in YAML. */
export function option<T, K extends Kind>(type: ValueType<T, K>, fallback: Fallback): Unhelped<Option<T, K>> {
  return { help: (help) => ({ [mark]: true, type, fallback, required: false, help }) };
}

export function optional<T, K extends Kind>(type: ValueType<T, K>): Unhelped<Option<T | undefined, K>> {
  return { help: (help) => ({ [mark]: true, type, fallback: undefined, required: false, help }) };
}

export function required<T, K extends Kind>(type: ValueType<T, K>): Unhelped<Option<T, K>> {
  return { help: (help) => ({ [mark]: true, type, fallback: undefined, required: true, help }) };
}

export function isOption(node: OptionTree | Option<unknown>): node is Option<unknown> {
  return mark in node;
}

/** Converts a key of the file: `listen_address` → `listenAddress`, `timeout` → `timeoutMs`, `token_file` → `token`. */
export function toSettingName(key: string, kind: Kind): string {
  const bare = kind === 'secret' ? key.replace(/_file$/, '') : key;
  const camel = bare.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return kind === 'duration' ? `${camel}Ms` : camel;
}

type SettingName<K extends string, N> = N extends Option<unknown, infer M> ? NameOfKind<K, M> : CamelCase<K>;

/** The type of the result of `toSettingName`. */
type NameOfKind<K extends string, M extends Kind> = M extends 'duration'
  ? `${CamelCase<K>}Ms`
  : M extends 'secret'
    ? K extends `${infer Bare}_file`
      ? CamelCase<Bare>
      : CamelCase<K>
    : CamelCase<K>;

export type CamelCase<K extends string> = K extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : K;
