import type { Complaints } from '../complaint.ts';
import type { CollectorConfig, Config } from '../config.ts';
import { listCollectorLeaves } from '../declare/catalogue.ts';
import { type CollectorDefaults, defineCollectorOptions } from '../declare/options.ts';
import { toSettings } from '../declare/settings.ts';
import { type Resolved, resolveAll, type Sources } from './resolve.ts';

/** The settings of every collector by name; intervals that were given are put to `validateInterval`. */
export function resolveCollectors(
  about: {
    readonly collectors: readonly CollectorDefaults[];
    readonly disableDefaults: boolean;
    readonly validateInterval?: (intervalMs: number) => string | undefined;
  },
  sources: Sources,
  complaints: Complaints,
): { readonly collectors: Config['collectors']; readonly resolved: ReadonlyMap<string, Resolved> } {
  const settings = new Map<string, CollectorConfig>();
  const all = new Map<string, Resolved>();
  for (const declared of about.collectors) {
    const collector = { ...declared, on: declared.on && !about.disableDefaults };
    const resolved = resolveAll(listCollectorLeaves(collector), sources, complaints);
    const path = `collectors.${collector.name}`;
    const every = resolved.get(`${path}.every`);
    const problem =
      every?.place !== undefined && typeof every.value === 'number' ? about.validateInterval?.(every.value) : undefined;
    if (every?.place !== undefined && problem !== undefined) complaints.add(every.place, problem);
    for (const [key, value] of resolved) all.set(key, value);
    settings.set(
      collector.name,
      toSettings(defineCollectorOptions(collector), (key) => resolved.get(`${path}.${key}`)?.value),
    );
  }
  return { collectors: Object.fromEntries(settings), resolved: all };
}
