import { Document, isMap } from 'yaml';
import { Secret } from '../../domain/secret.ts';
import type { Config } from '../config.ts';
import { toSettingName } from '../declare/option.ts';
import { serverOptions } from '../declare/server-options.ts';
import { readKey, toEffectiveSettings } from './effective-settings.ts';

/** Writes the effective configuration as YAML that can be loaded again. Secrets appear only as the paths of their files. */
export function toEffectiveYaml(config: Config, comments: readonly string[] = []): string {
  const document = new Document(toEffectiveSettings(config));
  for (const [index, server] of config.servers.entries()) {
    const node = document.getIn(['servers', index]);
    const comments = Object.keys(serverOptions).flatMap((key) => toComment(key, server));
    if (isMap(node) && comments.length > 0) node.comment = comments.join('\n');
  }
  if (comments.length > 0) document.commentBefore = comments.map((comment) => ` ${comment}`).join('\n');
  return document.toString({ lineWidth: 0 });
}

function toComment(key: string, server: unknown): string[] {
  const value = readKey(server, toSettingName(key, 'secret'));
  if (!(value instanceof Secret) || !('environment' in value.source)) return [];
  return [` ${key.replace(/_file$/, '')}: ${String(value)} from ${value.source.environment}`];
}
