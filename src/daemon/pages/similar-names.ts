import { didYouMean } from '../../domain/complaint.ts';
import { toJobPath } from '../../domain/job.ts';
import type { ExpectedRuns } from '../../expected-runs/expected-runs.ts';
import type { WatchedServer } from '../watch-server.ts';

type Scheduled = { readonly expected: Pick<ExpectedRuns, 'scheduled'> | undefined };
type Watched = ReadonlyMap<string, Scheduled & Pick<WatchedServer, 'unseen'>>;

/** Explains why a scheduled job may be missing, and suggests a similar name for an unknown job or server. */
export function hintAtName(watched: Watched, server: string, job: string): string | undefined {
  const found = watched.get(server);
  if (found === undefined) return hint(server, [...watched.keys()]);
  const wanted = job.split('/').at(-1)?.toLowerCase();
  const near: string[] = [];
  const sameName: string[] = [];
  for (const scheduled of found.expected?.scheduled() ?? []) {
    const path = toJobPath(scheduled);
    if (near.length < maxCompared) near.push(path);
    if (scheduled.name.toLowerCase() === wanted) sameName.push(path);
  }
  const similar = sameName.length > 0 ? hint('', sameName) : hint(job, near);
  const unseen = found.unseen(job.split('/')[0] ?? '');
  return unseen === undefined ? similar : `${unseen}. ${similar ?? ''}`.trim();
}

function hint(word: string, names: readonly string[]): string | undefined {
  const known = [...new Set(names)];
  const rest = known.length > maxListed ? `, and ${known.length - maxListed} more` : '';
  const list = known.length === 0 ? undefined : `known: ${known.slice(0, maxListed).join(', ')}${rest}`;
  const text = didYouMean(word, known) ?? list;
  return text && text.charAt(0).toUpperCase() + text.slice(1);
}

const maxListed = 5;
/** The maximum number of names to compare, because pages and scrapes wait for the comparison. */
const maxCompared = 1000;
