import { type Complaints, didYouMean, type Place, toInnerPlace } from '../../domain/complaint.ts';
import type { CollectorConfig, Config, FamilyConfig } from '../config.ts';
import { listCollectorLeaves, listFamilyLeaves } from '../declare/catalogue.ts';
import {
  type CollectorDefaults,
  defineCollectorOptions,
  exclusions,
  type FamilyFacts,
  familyOptions,
} from '../declare/options.ts';
import { toSettings } from '../declare/settings.ts';
import { formatDuration } from '../values/duration.ts';
import { origins, type Resolved, resolveAll, type Sources } from './resolve.ts';

export function resolveCollectors(
  about: {
    collectors: readonly CollectorDefaults[];
    disableDefaults: boolean;
    validateInterval?: (intervalMs: number) => string | undefined;
  },
  sources: Sources,
  complaints: Complaints,
): { collectors: Config['collectors']; resolved: ReadonlyMap<string, Resolved> } {
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

/** Reads the metric families that are in the file. */
export function resolveFamilies(
  known: readonly FamilyFacts[],
  sources: Sources,
  complaints: Complaints,
): { families: ReadonlyMap<string, FamilyConfig>; resolved: ReadonlyMap<string, Resolved> } {
  const families = new Map<string, FamilyConfig>();
  const all = new Map<string, Resolved>();
  for (const family of known) {
    const path = `metrics.${family.name}`;
    const resolved = resolveAll(listFamilyLeaves(family.name), sources, complaints);
    if ([...resolved.values()].every(({ place }) => place === undefined)) continue;
    for (const [key, value] of resolved) all.set(key, value);
    const settings = toSettings(familyOptions, (key) => resolved.get(`${path}.${key}`)?.value);
    families.set(family.name, settings);
    checkLabels(family, { names: settings.dropLabels, place: resolved.get(`${path}.drop_labels`)?.place }, complaints);
    const { place } = resolved.get(`${path}.buckets`) ?? {};
    if (place !== undefined && family.type !== 'histogram')
      complaints.add(place, `${family.name} is not a histogram`, 'remove the buckets');
    if (place !== undefined && family.bucketsFrom !== undefined)
      complaints.add(place, `has the buckets of ${family.bucketsFrom}`, 'give them there');
  }
  return { families, resolved: all };
}

function checkLabels(
  { name: family, labels, stateLabel }: FamilyFacts,
  { names, place }: { names: readonly string[] | undefined; place: Place | undefined },
  complaints: Complaints,
): void {
  // A value that is not a list is undefined here, and already has its complaint.
  for (const [index, name] of (place === undefined ? [] : (names ?? [])).entries()) {
    const at = toInnerPlace(place ?? { text: '' }, [index]);
    const known = labels.length === 0 ? 'it has none' : `its labels: ${labels.join(', ')}`;
    if (name === stateLabel) complaints.add(at, `"${name}" distinguishes its states`, 'switch the family off instead');
    else if (!labels.includes(name))
      complaints.add(at, `is not a label of ${family}`, didYouMean(name, labels) ?? known);
  }
}

/**
 * Resolves pairs that exclude each other: the stronger source wins, so that a flag or an image can override the file;
 * two values from one source are a complaint.
 */
export function settleExclusions(
  resolved: ReadonlyMap<string, Resolved>,
  complaints: Complaints,
): ReadonlyMap<string, Resolved> {
  const settled = new Map(resolved);
  for (const pair of exclusions) {
    const option = resolved.get(pair.option);
    const switched = resolved.get(pair.switch);
    if (option?.place === undefined || switched?.place === undefined || switched.value !== true) continue;
    const lead = origins.indexOf(option.origin) - origins.indexOf(switched.origin);
    if (lead > 0) settled.set(pair.switch, { ...option, value: false });
    if (lead === 0) complaints.add(option.place, `excludes ${pair.switch}`, 'remove one of them');
  }
  return settled;
}

/**
 * Complains about a client certificate without its key and the reverse, and about a database password without a host:
 * without one, the state would be in a file, and each replica would count separately.
 */
export function checkDatabase(general: ReadonlyMap<string, Resolved>, complaints: Complaints): void {
  const placeOf = (key: string) => general.get(`state.postgres.tls.${key}`)?.place;
  for (const [given, lacking] of [
    ['cert_file', 'key_file'],
    ['key_file', 'cert_file'],
  ] as const) {
    const place = placeOf(given);
    if (place !== undefined && placeOf(lacking) === undefined)
      complaints.add(place, `needs state.postgres.tls.${lacking} beside it`);
  }
  const host = general.get('state.postgres.host')?.place;
  const url = general.get('state.postgres.url_file')?.place;
  if (host !== undefined && url !== undefined)
    complaints.add(url, 'excludes state.postgres.host', 'remove one of them');
  const password = general.get('state.postgres.password_file')?.place;
  if (password === undefined || host !== undefined || url !== undefined) return;
  complaints.add(password, 'has no meaning without state.postgres.host', 'give the host of the database');
}

/** Complains if counting starts before the catch-up limit: older executions would be skipped. */
export function checkBackfill(general: ReadonlyMap<string, Resolved>, complaints: Complaints): void {
  const backfill = general.get('executions.backfill');
  const limit = general.get('executions.catch_up_limit');
  const place = backfill?.place ?? limit?.place;
  if (place === undefined || typeof backfill?.value !== 'number' || typeof limit?.value !== 'number') return;
  if (backfill.value <= limit.value) return;
  const [longer, shorter] = [formatDuration(backfill.value), formatDuration(limit.value)];
  const message = `executions.backfill (${longer}) goes beyond executions.catch_up_limit (${shorter})`;
  complaints.add(place, message, 'executions before the limit are skipped: reduce backfill or raise catch_up_limit');
}
