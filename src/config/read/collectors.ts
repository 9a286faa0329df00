import { type Complaints, didYouMean, toInnerPlace } from '../../domain/complaint.ts';
import type { CollectorConfig, FamilyConfig } from '../config.ts';
import { listCollectorLeaves, listFamilyLeaves } from '../declare/catalogue.ts';
import {
  type CollectorDefaults,
  defineCollectorOptions,
  excludedByMemory,
  type FamilyFacts,
  familyOptions,
} from '../declare/options.ts';
import { formatDuration } from '../values/duration.ts';
import { createComplain, origins, type ResolvedTree, resolveTree, type Sources, toSettings } from './resolve.ts';

/** The settings of a part of the configuration, and their origins. */
export type Part<T> = { readonly settings: T; readonly resolved: ResolvedTree };

export function resolveCollector(
  collector: CollectorDefaults,
  sources: Sources,
  { validateInterval }: { validateInterval?: (intervalMs: number) => string | undefined },
  complaints: Complaints,
): Part<CollectorConfig> {
  const resolved = resolveTree(listCollectorLeaves(collector), sources, complaints);
  const { place, value } = resolved.get('every') ?? {};
  const problem = place !== undefined && typeof value === 'number' ? validateInterval?.(value) : undefined;
  if (place !== undefined && problem !== undefined) complaints.add(place, problem);
  return { settings: toSettings(defineCollectorOptions(collector), resolved), resolved };
}

export function resolveFamily(
  family: FamilyFacts,
  sources: Sources,
  complaints: Complaints,
): Partial<Part<FamilyConfig>> {
  const resolved = resolveTree(listFamilyLeaves(family.name), sources, complaints);
  if ([...resolved.values()].every(({ place }) => place === undefined)) return {};
  const part = { settings: toSettings(familyOptions, resolved), resolved };
  checkLabels(family, part, complaints);
  const complain = createComplain(resolved, complaints);
  if (family.type !== 'histogram') complain('buckets', `${family.name} is not a histogram`, 'remove the buckets');
  if (family.bucketsFrom !== undefined)
    complain('buckets', `always has the buckets of ${family.bucketsFrom}`, 'set them there');
  return part;
}

function checkLabels(
  { name: family, labels, stateLabel }: FamilyFacts,
  { settings, resolved }: Part<FamilyConfig>,
  complaints: Complaints,
): void {
  const place = resolved.get('drop_labels')?.place;
  if (place === undefined) return;
  const known = labels.length === 0 ? 'it has none' : `its labels: ${labels.join(', ')}`;
  // A value that is not a list is undefined here and has its own complaint.
  for (const [index, name] of (settings.dropLabels ?? []).entries()) {
    const at = toInnerPlace(place, [index]);
    if (name === stateLabel) complaints.add(at, `"${name}" distinguishes its states`, 'switch the family off instead');
    else if (!labels.includes(name))
      complaints.add(at, `is not a label of ${family}`, didYouMean(name, labels) ?? known);
  }
}

/**
 * Resolves `state.memory` and the options that it excludes. The stronger source takes precedence, so that a flag or an image
 * can override the file. Two values from the same source are an error.
 */
export function settleExclusions(resolved: ResolvedTree, complaints: Complaints): ResolvedTree {
  const settled = new Map(resolved);
  const memory = resolved.get('state.memory');
  for (const key of memory?.place !== undefined && memory.value === true ? excludedByMemory : []) {
    const option = resolved.get(key);
    if (memory === undefined || option?.place === undefined) continue;
    const lead = origins.indexOf(option.origin) - origins.indexOf(memory.origin);
    const shadowed = option.origin === 'environment' ? memory.place : undefined;
    if (lead > 0) settled.set('state.memory', { ...option, leaf: memory.leaf, value: false, shadowed });
    if (lead === 0) complaints.add(option.place, 'excludes state.memory', 'remove one of them');
  }
  return settled;
}

/**
 * Complains about a client certificate without its key (or the reverse). Complains about options of a database without a host:
 * the state would be in a file, and each replica would count separately.
 */
export function checkDatabase(general: ResolvedTree, complaints: Complaints): void {
  const complain = createComplain(general, complaints);
  const isGiven = (key: string) => general.get(`state.postgres.${key}`)?.place !== undefined;
  for (const [given, lacking] of [
    ['cert_file', 'key_file'],
    ['key_file', 'cert_file'],
  ] as const)
    if (!isGiven(`tls.${lacking}`)) complain(`state.postgres.tls.${given}`, `also needs state.postgres.tls.${lacking}`);
  if (isGiven('host'))
    complain('state.postgres.url_file', 'cannot be combined with state.postgres.host', 'remove one of them');
  else if (!isGiven('url_file'))
    // Values equal to their defaults are allowed, because the output of the command `config` contains all defaults.
    for (const [key, { value, leaf }] of general)
      if (key.startsWith('state.postgres.') && value !== leaf.option.fallback)
        complain(key, 'has no effect without state.postgres.host', 'set the host of the database');
}

/** Complains if counting starts before the catch-up limit, because older executions would be skipped. */
export function checkBackfill(general: ResolvedTree, complaints: Complaints): void {
  const backfill = general.get('executions.backfill');
  const limit = general.get('executions.catch_up_limit');
  const place = backfill?.place ?? limit?.place;
  if (place === undefined || typeof backfill?.value !== 'number' || typeof limit?.value !== 'number') return;
  if (backfill.value <= limit.value) return;
  const [longer, shorter] = [formatDuration(backfill.value), formatDuration(limit.value)];
  const message = `executions.backfill (${longer}) exceeds executions.catch_up_limit (${shorter})`;
  complaints.add(place, message, 'executions before the limit are skipped: reduce backfill or raise catch_up_limit');
}
