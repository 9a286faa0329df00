import { isFailure } from '../../../status/running.ts';
import type { EndedExecution } from '../../../status/status.ts';

/** The part of the kept executions that a list shows; empty text for all. */
export type Filter = {
  /** A way to end, or `failures` for all that are one. */
  readonly result: string;
  readonly server: string;
  readonly project: string;
  /** Part of the job's group and name, or an id. */
  readonly text: string;
  readonly page: number;
};

/** Reads the filter from the address, whatever it holds. */
export function readFilter(query: URLSearchParams): Filter {
  const read = (name: string): string => (query.get(name) ?? '').trim().slice(0, longest);
  const page = Number(query.get('page') ?? '1');
  const isPage = Number.isSafeInteger(page) && page > 0;
  return {
    result: read('result'),
    server: read('server'),
    project: read('project'),
    text: read('text'),
    page: isPage ? page : 1,
  };
}

const longest = 200;

/** Writes the filter as the query of an address, without what is not set. */
export function toQuery(filter: Readonly<Record<string, string | number>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== '' && !(name === 'page' && value === 1)) query.set(name, String(value).toWellFormed());
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** Reports whether a filter lets an execution through. */
export function toChoice(filter: Filter): (execution: EndedExecution) => boolean {
  const text = filter.text.toLowerCase();
  return ({ server, project, job = 'ad hoc', id, ending }) =>
    isResult(ending, filter.result) &&
    (filter.server === '' || server === filter.server) &&
    (filter.project === '' || project === filter.project) &&
    (text === '' || job.toLowerCase().includes(text) || String(id) === text.replace(/^#/, ''));
}

function isResult(ending: string, wanted: string): boolean {
  return wanted === '' || (wanted === 'failures' ? isFailure({ ending }) : ending === wanted);
}
