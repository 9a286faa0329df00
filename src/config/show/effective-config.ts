import { Document, isMap } from 'yaml';
import type { Config } from '../config.ts';
import { isOption, type Option, type OptionTree, toSettingName } from '../declare/option.ts';
import {
  defineCollectorOptions,
  exclusions,
  familyOptions,
  generalOptions,
  serverOptions,
} from '../declare/options.ts';
import { Secret } from '../secret.ts';

/** The configuration in force as YAML that loads again; of a secret it shows only where it comes from. */
export function toEffectiveYaml(config: Config, comments: readonly string[] = []): string {
  const { servers, collectors, ...general } = config;
  // Only the types of a collector's options matter here, and those are the same for all.
  const collectorOptions = defineCollectorOptions({ name: '', on: true, every: '15s', help: '', projects: '' });
  const polled = Object.entries(collectors).map(([name, polls]) => [name, toYaml(collectorOptions, polls)] as const);
  const ruled = [...config.metrics.families].map(([name, rules]) => [name, toYaml(familyOptions, rules)] as const);
  const document = new Document({
    servers: servers.map((server) => toYaml(serverOptions, server)),
    collectors: Object.fromEntries(polled),
    ...toYaml(generalOptions, general, listExcluded(general)),
    metrics: { ...toYaml(generalOptions.metrics, config.metrics), ...Object.fromEntries(ruled) },
  });
  for (const [index, server] of servers.entries()) {
    const node = document.getIn(['servers', index]);
    const comments = Object.keys(serverOptions).flatMap((key) => toComment(key, server));
    if (isMap(node) && comments.length > 0) node.comment = comments.join('\n');
  }
  if (comments.length > 0) document.commentBefore = comments.map((comment) => ` ${comment}`).join('\n');
  return document.toString({ lineWidth: 0 });
}

type Nested = Readonly<Record<string, unknown>>;

function toYaml(tree: OptionTree, settings: unknown, skip: readonly string[] = [], path = ''): Nested {
  const entries = Object.entries(tree).flatMap(([key, node]): [string, unknown][] => {
    const here = path === '' ? key : `${path}.${key}`;
    if (!isOption(node)) return [[key, toYaml(node, readKey(settings, toSettingName(key, 'plain')), skip, here)]];
    const value = toYamlValue(node, readKey(settings, toSettingName(key, node.type.kind)));
    return value === undefined || skip.includes(here) ? [] : [[key, value]];
  });
  return Object.fromEntries(entries);
}

function toYamlValue({ type }: Option<unknown>, value: unknown): unknown {
  if (value instanceof Secret) return 'file' in value.source ? value.source.file : undefined;
  return value === undefined ? undefined : type.format(value);
}

function toComment(key: string, server: unknown): string[] {
  const value = readKey(server, toSettingName(key, 'secret'));
  if (!(value instanceof Secret) || !('environment' in value.source)) return [];
  return [` ${key.replace(/_file$/, '')}: ${String(value)} from ${value.source.environment}`];
}

// Options that a switch excludes would be refused when the text is loaded again.
function listExcluded(general: Nested): string[] {
  return exclusions.filter((pair) => readPath(general, pair.switch) === true).map(({ option }) => option);
}

function readPath(settings: unknown, path: string): unknown {
  let found = settings;
  for (const key of path.split('.')) found = readKey(found, toSettingName(key, 'plain'));
  return found;
}

function readKey(settings: unknown, key: string): unknown {
  return typeof settings === 'object' && settings !== null && Object.hasOwn(settings, key)
    ? Reflect.get(settings, key)
    : undefined;
}
