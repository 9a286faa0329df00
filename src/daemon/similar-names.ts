import { didYouMean } from '../config/did-you-mean.ts';
import { toJobPath } from '../domain/job-path.ts';
import type { WatchedServer } from './watch-server.ts';

type Watched = ReadonlyMap<string, Pick<WatchedServer, 'scheduled'>>;

/** Finds what was probably meant by the name of a server, or of a scheduled job on it, that is not known. */
export function hintAtName(watched: Watched, server: string, job: string): string | undefined {
  const found = watched.get(server);
  if (found === undefined) return hint(server, [...watched.keys()]);
  const wanted = job.split('/').at(-1)?.toLowerCase();
  const near: string[] = [];
  const sameName: string[] = [];
  for (const scheduled of found.scheduled()) {
    const path = toJobPath(scheduled);
    if (near.length < mostCompared) near.push(path);
    if (scheduled.name.toLowerCase() === wanted) sameName.push(path);
  }
  return sameName.length > 0 ? hint('', sameName) : hint(job, near);
}

function hint(word: string, names: readonly string[]): string | undefined {
  const known = [...new Set(names)];
  const rest = known.length > mostListed ? `, and ${known.length - mostListed} more` : '';
  const list = known.length === 0 ? undefined : `known: ${known.slice(0, mostListed).join(', ')}${rest}`;
  return didYouMean(word, known) ?? list;
}

const mostListed = 5;
/** Comparing takes time that pages and scrapes wait for. */
const mostCompared = 1000;
