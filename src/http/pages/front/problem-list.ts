import { toCount } from '../../../domain/format.ts';
import { isWell, ofKind, type Place, type ProblemKind } from '../../../status/problem-kinds.ts';
import { listAlike, type Problem, toHeadline, toSummary } from '../../../status/problems.ts';
import type { ServerStatus, Status } from '../../../status/status.ts';
import { judge } from '../../../status/watcher.ts';
import { toScheduleAddress } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { toAnchor, toRightsAnchor } from './server-state.ts';

type About = { readonly root: string };

/** Renders the worst problem as headline and the other problems below, with links. */
export function renderProblems(status: Status, problems: readonly Problem[], about: About): Html {
  const [worst] = problems;
  const headline = toHeadline(status, problems);
  if (worst === undefined || isWell(problems)) {
    const mood = judge(status, problems) === true ? 'good' : 'off';
    const notes = renderOthers(problems, about, { word: 'note' });
    return renderBox(mood, headline, html`<p>${toSummary(status)}</p>${renderWatchers(status.servers)}${notes}`);
  }
  // The worst problem is of the kind `waiting` only while the exporter starts.
  const mood = worst.kind === 'waiting' ? 'waiting' : 'bad';
  const alike = listAlike(worst, problems);
  if (alike.length < 2) {
    const others = problems.filter((one) => one !== worst);
    return renderBox(
      mood,
      headline,
      html`${renderDetail(worst, about)}${renderOthers(others, about, { named: worst.member === undefined ? [worst.server] : [] })}`,
    );
  }
  const others = problems.filter((one) => one.kind !== worst.kind || one.member !== undefined);
  const named = alike.slice(0, maxShown);
  const servers = named.map(
    (name, index) => html`${index === 0 ? '' : ', '}<a href="#${toAnchor(name)}"><bdi>${name}</bdi></a>`,
  );
  const rest = alike.length > maxShown ? ` and ${alike.length - maxShown} more` : '';
  const causes = new Set(problems.filter(({ kind }) => kind === worst.kind).map(toCause));
  const cause = causes.size === 1 ? html`<p>${[...causes][0]}</p>\n` : undefined;
  const detail = html`<p>${servers}${rest}. ${renderRunbook(worst.kind, about)}</p>\n${cause}`;
  return renderBox(mood, headline, html`${detail}${renderOthers(others, about, { named })}`);
}

const signs = { good: '✓', bad: '✗', off: '→', waiting: '…' } as const;

function renderBox(mood: keyof typeof signs, headline: string, below: Html): Html {
  return html`<div class="headline ${mood === 'waiting' ? 'off' : mood}"><h1><span class="sign" aria-hidden="true">${signs[mood]}</span><span>${headline}</span></h1>
${below}</div>`;
}

function renderWatchers(servers: readonly ServerStatus[]): Html | undefined {
  const others = new Map(
    servers.flatMap(({ watcher }) => (watcher?.is === 'other' ? [[watcher.address, watcher.page] as const] : [])),
  );
  if (others.size === 0) return undefined;
  const links = [...others].map(([address, page]) =>
    page === undefined ? html`<li>${address}</li>` : html`<li><a href="${page}/">${address}</a></li>`,
  );
  return html`<ul>${links}</ul>`;
}

/** Returns the cause of a problem without its start, because the start differs between servers. */
function toCause({ detail = '' }: Problem): string {
  return detail.replace(/^Since [^:]*(?::\d\d[^:]*)?(?:: |$)/, '');
}

function renderDetail(problem: Problem, about: About): Html {
  const { kind, detail } = problem;
  const { page } = ofKind(kind);
  const place = page === 'server' ? undefined : html`<a href="${toPlace(problem, about)}">${placeWords[page]}</a> `;
  return html`<p>${detail === undefined ? '' : `${detail.replace(/[.…]?$/, '.')} `}${place}${renderRunbook(kind, about)}</p>\n`;
}

const placeWords: Readonly<Record<Exclude<Place, 'server'>, string>> = {
  rights: 'Show missing permissions',
  config: 'Configuration',
  traces: 'Traces',
  schedule: 'Schedule',
  tonight: 'Tonight',
  failures: 'Failed executions',
  jobs: 'Jobs',
  'failed jobs': 'Jobs that failed',
  'off jobs': 'Jobs that are off',
};

/** As many problems as a person can read at once. Further problems are folded. */
const maxShown = 12;
const maxFolded = 200;

type Others = { readonly word?: string; readonly named?: readonly (string | undefined)[] };

function renderOthers(
  problems: readonly Problem[],
  about: About,
  { word = 'more problem', named = [] }: Others,
): Html | undefined {
  if (problems.length === 0) return undefined;
  const toItem = (problem: Problem): Html => {
    const { kind, title, detail, isOff } = problem;
    const off = isOff === true ? ' The alert is off.' : '';
    return html`<li><a href="${toPlace(problem, about)}">${title}</a>${detail === undefined ? undefined : html`. ${detail.replace(/[.…]?$/, '.')}`}${off} ${renderRunbook(kind, about)}</li>\n`;
  };
  const shown = choose(problems, new Set(named));
  const rest = problems.filter((problem) => !shown.has(problem));
  const more =
    rest.length === 0
      ? undefined
      : html`<details><summary>and ${toCount(rest.length, word)}</summary><ul>${rest.slice(0, maxFolded).map(toItem)}${
          rest.length > maxFolded ? html`<li>and ${toCount(rest.length - maxFolded, word)}, below</li>` : undefined
        }</ul></details>`;
  return html`<p>${toCount(problems.length, word)}:</p><ul>${[...shown].map(toItem)}</ul>${more}`;
}

/**
 * Chooses the problems that are not folded: one problem of each server that is not named yet, then the worst of the others. The
 * problem is of the server itself, if possible, and not of a member.
 */
function choose(problems: readonly Problem[], named: ReadonlySet<string | undefined>): ReadonlySet<Problem> {
  const others = problems.filter(({ server }) => server === undefined || !named.has(server));
  const firsts = [...Map.groupBy(others, (problem) => problem.server ?? problem)].flatMap(
    ([, ofServer]) => ofServer.find(({ member }) => member === undefined) ?? ofServer.slice(0, 1),
  );
  const chosen = new Set([...new Set([...firsts, ...problems])].slice(0, maxShown));
  return new Set(problems.filter((problem) => chosen.has(problem)));
}

const places: Readonly<Record<Exclude<Place, 'server' | 'rights'>, (server: string) => string>> = {
  config: () => 'config',
  traces: () => 'traces',
  schedule: toScheduleAddress,
  tonight: (server) => `tonight?server=${encodeURIComponent(server.toWellFormed())}`,
  failures: (server) => `executions?result=failures&server=${encodeURIComponent(server.toWellFormed())}`,
  jobs: (server) => `jobs?server=${encodeURIComponent(server.toWellFormed())}`,
  'failed jobs': (server) => toJobs(server, 'failed'),
  'off jobs': (server) => toJobs(server, 'off'),
};

function toJobs(server: string, state: string): string {
  return `jobs?state=${state}&server=${encodeURIComponent(server.toWellFormed())}`;
}

function toPlace({ kind, server = '' }: Problem, { root }: About): string {
  const { page } = ofKind(kind);
  if (page === 'server') return `#${toAnchor(server)}`;
  return page === 'rights' ? `#${toRightsAnchor(server)}` : `${root}${places[page](server)}`;
}

function renderRunbook(kind: ProblemKind, { root }: About): Html | undefined {
  const [alert] = ofKind(kind).alerts;
  return alert === undefined ? undefined : html`<a class="runbook" href="${root}runbooks/${alert}">Runbook</a>`;
}
