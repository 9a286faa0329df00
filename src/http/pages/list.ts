import type { Request, Router } from 'express';
import { toCount } from '../../domain/format.ts';
import { filterInPieces, noPause, type Pause } from '../../domain/pause.ts';
import { createRoutes } from '../server/routes.ts';
import { allowForms } from '../server/security-headers.ts';
import { type Html, html } from './html.ts';
import { renderPage, toRoot } from './page.ts';
import { type FindSilence, renderSilence } from './silence.ts';

/** The filter of a list. An empty text selects all items. */
export type Fields<Name extends string> = Readonly<Record<Name, string>>;

type List<Item, Name extends string> = {
  /** The path of the page below the route prefix. */
  readonly path: string;
  readonly title: string;
  readonly noun: string;
  readonly fields: readonly (Name | 'server')[];
  readonly items: () => Promise<readonly Item[]>;
  readonly toChoice: (filter: Fields<Name | 'server'>) => (item: Item) => boolean;
  readonly servers: () => readonly string[];
  readonly silence: FindSilence;
  /** Call at the start of a request, and await the result between parts of long work. */
  readonly begin?: (() => Pause) | undefined;
  /** The words for the previous and the next page. */
  readonly words?: readonly [before: string, after: string];
  readonly render: (shown: Shown<Item, Name>) => Html;
};

export type Shown<Item, Name extends string> = {
  readonly all: readonly Item[];
  readonly items: readonly Item[];
  /** The text, such as `100 changes` or `3 of 100 changes`. */
  readonly count: string;
  /** The links to other pages; undefined if there are none. */
  readonly links: Html | undefined;
  readonly filter: Fields<Name | 'server'>;
  readonly servers: readonly string[];
  readonly root: string;
};

const onePage = 100;

/** Serves a long list page by page, filtered by the query. */
export function listRoute<Item, Name extends string>(list: List<Item, Name>): Router {
  const { path, title, noun, fields, silence, begin = () => noPause, words } = list;
  const router = createRoutes();
  router.get(`/${path}`, async (request, response) => {
    const filter = readFields(request, fields);
    const servers = list.servers();
    const all = await list.items();
    const chosen = await filterInPieces(all, list.toChoice(filter), begin());
    const pages = Math.max(1, Math.ceil(chosen.length / onePage));
    const page = Math.min(pages, Math.max(1, Math.trunc(Number(readFields(request, ['page']).page)) || 1));
    const body = list.render({
      all,
      items: chosen.slice((page - 1) * onePage, page * onePage),
      count: `${chosen.length === all.length ? '' : `${chosen.length} of `}${toCount(all.length, noun)}`,
      links: renderPages(path, filter, { page, pages, words }),
      filter,
      servers,
      root: toRoot(request),
    });
    const notice = renderSilence(filter.server === '' ? servers : [filter.server], silence);
    allowForms(response);
    response.set('cache-control', 'no-store').send(renderPage({ title, notice, body, path: request.path }));
  });
  return router;
}

/** Reads fields of a query. Never fails. */
export function readFields<Name extends string>(
  { originalUrl }: Pick<Request, 'originalUrl'>,
  names: readonly Name[],
): Fields<Name> {
  const query = new URLSearchParams(/\?(.*)$/s.exec(originalUrl)?.[1]);
  // This cast is safe: each name is a key.
  return Object.fromEntries(
    names.map((name) => [name, (query.get(name) ?? '').trim().slice(0, longest)]),
  ) as Fields<Name>;
}

/** Groups and names of jobs are long. */
const longest = 4000;

type Query = Readonly<Record<string, string | number>>;

/** Writes the filter as a query, without empty fields. */
export function toQuery(filter: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== '' && !(name === 'page' && value === 1)) query.set(name, String(value).toWellFormed());
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

type Place = { readonly page: number; readonly pages: number; readonly words: List<unknown, string>['words'] };

function renderPages(list: string, filter: Query, { page, pages, words = ['newer', 'older'] }: Place) {
  if (pages === 1) return undefined;
  const to = (target: number, text: string): Html | undefined =>
    target < 1 || target > pages
      ? undefined
      : html`<a href="${list}${toQuery({ ...filter, page: target })}">${text}</a> `;
  const [before, after] = words;
  return html`<p>${to(page - 1, `← ${before}`)}page ${page} of ${pages} ${to(page + 1, `${after} →`)}</p>\n`;
}

/** Renders a selection. The empty value selects all items. */
export function renderSelect(
  name: string,
  values: readonly string[],
  chosen: string,
  words: Readonly<Record<string, string>> = {},
): Html {
  const options = values.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${Object.hasOwn(words, value) ? words[value] : value === '' ? 'any' : value}</option>`,
  );
  return html`<select name="${name}">${options}</select>`;
}

/** Renders the selection of a server. Returns undefined if there is only one server. */
export function renderServers(servers: readonly string[], chosen: string): Html | undefined {
  if (servers.length < 2) return undefined;
  return html`<label>Server ${renderSelect('server', ['', ...servers], chosen)}</label>\n`;
}

/** Renders the field for a project. The projects of the items are suggestions. */
export function renderProjects(all: readonly { readonly project: string }[], chosen: string): Html {
  const projects = [...new Set(all.map(({ project }) => project))].filter(Boolean).toSorted().slice(0, maxSuggested);
  return html`<label>Project <input name="project" value="${chosen}" list="projects"></label>
<datalist id="projects">${projects.map((project) => html`<option value="${project}"></option>`)}</datalist>`;
}

const maxSuggested = 200;
