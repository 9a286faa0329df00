import { type Complaints, type Place, toInnerPlace } from '../complaint.ts';
import type { FamilyConfig } from '../config.ts';
import { listFamilyLeaves } from '../declare/catalogue.ts';
import { type FamilyFacts, familyOptions } from '../declare/options.ts';
import { toSettings } from '../declare/settings.ts';
import { didYouMean } from '../did-you-mean.ts';
import { type Resolved, resolveAll, type Sources } from './resolve.ts';

/** Reads the metric families in the file; only those it names. */
export function resolveFamilies(
  known: readonly FamilyFacts[],
  sources: Sources,
  complaints: Complaints,
): { readonly families: ReadonlyMap<string, FamilyConfig>; readonly resolved: ReadonlyMap<string, Resolved> } {
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
  { names, place }: { readonly names: readonly string[] | undefined; readonly place: Place | undefined },
  complaints: Complaints,
): void {
  // A value that is not a list already has its complaint, and is undefined here.
  for (const [index, name] of (place === undefined ? [] : (names ?? [])).entries()) {
    const at = toInnerPlace(place ?? { text: '' }, [index]);
    const known = labels.length === 0 ? 'it has none' : `its labels: ${labels.join(', ')}`;
    if (name === stateLabel) complaints.add(at, `"${name}" distinguishes its states`, 'switch the family off instead');
    else if (!labels.includes(name))
      complaints.add(at, `is not a label of ${family}`, didYouMean(name, labels) ?? known);
  }
}
