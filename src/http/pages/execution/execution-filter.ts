import { isFailure } from '../../../status/running.ts';
import type { EndedExecution } from '../../../status/status.ts';
import { type Html, html } from '../html.ts';

/** Selects from the kept executions; an empty text selects all. */
export type Filter = {
  /** An ending, or `failures` for all that count as failed. */
  readonly result: string;
  readonly server: string;
  readonly project: string;
  /** A part of the job's group and name, or an id. */
  readonly text: string;
  readonly page: number;
};

/** Reads the filter from the query; never fails. */
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

type Query = Readonly<Record<string, string | number>>;

/** Writes the filter as a query, without unset parts. */
export function toQuery(filter: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== '' && !(name === 'page' && value === 1)) query.set(name, String(value).toWellFormed());
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

type Place = {
  readonly page: number;
  readonly pages: number;
  readonly words?: readonly [before: string, after: string];
};

/** Links a page of a list to the previous and the next page; undefined if there is only one. */
export function renderPages(list: string, filter: Query, { page, pages, words = ['newer', 'older'] }: Place) {
  if (pages === 1) return undefined;
  const to = (target: number, text: string): Html | undefined =>
    target < 1 || target > pages
      ? undefined
      : html`<a href="${list}${toQuery({ ...filter, page: target })}">${text}</a> `;
  const [before, after] = words;
  return html`<p>${to(page - 1, `← ${before}`)}page ${page} of ${pages} ${to(page + 1, `${after} →`)}</p>\n`;
}

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
