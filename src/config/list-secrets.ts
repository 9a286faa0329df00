import type { Config } from './config.ts';
import { Secret } from './secret.ts';

/** Every secret of a configuration, wherever it is, so that the log can scrub them all. */
export function listSecrets(config: Config): readonly Secret[] {
  return collect(config);
}

function collect(part: unknown): Secret[] {
  if (part instanceof Secret) return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap((inner) => collect(inner)) : [];
}
