import type { Complaints } from '../complaint.ts';
import { exclusions } from '../declare/options.ts';
import { origins, type Resolved } from './resolve.ts';

/**
 * Settles pairs that exclude each other: the stronger source wins, so that an image or a flag may overrule the file;
 * both from one source is a complaint.
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

/** Complains about a client certificate without its key, or the other way round, and about a password for a database without a host: the state would be kept in a file, and each replica would count by itself. */
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
