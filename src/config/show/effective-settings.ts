import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Secret } from '../../domain/secret.ts';
import type { Config } from '../config.ts';
import { isOption, type Option, type OptionTree, toSettingName } from '../declare/option.ts';
import { defineCollectorOptions, excludedByMemory, familyOptions, generalOptions } from '../declare/options.ts';
import { serverOptions } from '../declare/server-options.ts';

/** Converts the effective configuration to the keys and values of its file. Secrets appear only as the paths of their files. */
export function toEffectiveSettings(config: Config): Nested {
  const { servers, collectors, ...general } = config;
  // Only the types of the options are used here, and the types are the same for all collectors.
  const collectorOptions = defineCollectorOptions({ name: '', on: true, every: '15s', help: '', projects: '' });
  const polled = Object.entries(collectors).map(([name, polls]) => [name, toYaml(collectorOptions, polls)] as const);
  const ruled = [...config.metrics.families].map(([name, rules]) => [name, toYaml(familyOptions, rules)] as const);
  return {
    servers: servers.map((server) => toYaml(serverOptions, server)),
    collectors: Object.fromEntries(polled),
    ...toYaml(generalOptions, general, general.state.memory ? excludedByMemory : []),
    metrics: { ...toYaml(generalOptions.metrics, config.metrics), ...Object.fromEntries(ruled) },
  };
}

/** Returns a short text that is equal for two configurations with the same effect on watching, counting and tracing. */
export function toConfigDigest(config: Config): string {
  const servers = config.servers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const settings = Object.entries(toEffectiveSettings({ ...config, servers }));
  const shared = settings.filter(([section]) => !ofOneProcess.includes(section));
  return createHash('sha256').update(JSON.stringify(shared, leaveOutFiles)).digest('hex').slice(0, 16);
}

const ofOneProcess = ['web', 'log', 'state'];

/** Removes paths, because the same file may have another path on another host. */
function leaveOutFiles(key: string, value: unknown): unknown {
  return key.endsWith('_file') ? undefined : value;
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
  return value === undefined ? undefined : z.encode(type.schema, value);
}

export function readKey(settings: unknown, key: string): unknown {
  return typeof settings === 'object' && settings !== null && Object.hasOwn(settings, key)
    ? Reflect.get(settings, key)
    : undefined;
}
