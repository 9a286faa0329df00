import type { Config } from '../config/config.ts';
import type { ReloadNotes } from './generation.ts';

type Sources = { readonly current: () => Config; readonly reloads: Pick<ReloadNotes, 'waiting'> };

export function toConfigText({ current, reloads }: Sources): () => Promise<string> {
  let of: readonly unknown[] = [];
  let text = Promise.resolve('');
  // YAML is imported on the first request, because it is not needed without a configuration file.
  const render = async (): Promise<string> =>
    (await import('../config/show/effective-config.ts')).toEffectiveYaml(current(), reloads.waiting());
  return () => {
    const now = [current(), reloads.waiting()];
    if (now.some((one, index) => one !== of[index])) text = render();
    of = now;
    return text;
  };
}
