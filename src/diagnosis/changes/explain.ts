import type { FailureClass, Seen } from '../../domain/failure-class.ts';
import { ofJobPath } from '../../domain/job.ts';
import type { Asking } from './asking.ts';
import type { Fields } from './deciding/areas.ts';
import type { Change, ChangeKind } from './deciding/change.ts';
import type { CommonCause } from './deciding/common-cause.ts';
import { areas as areaNames, toPresentNames } from './deciding/kinds.ts';
import { type JobRuns, toRunText } from './deciding/runs.ts';
import { type Failure, findSuspects, type Suspect } from './deciding/suspects.ts';
import type { KeptJournal } from './kept-journal.ts';

export type FailedRun = {
  readonly project: string;
  /** The group and name of the job when it ran. */
  readonly job: string;
  readonly jobId?: string | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs?: number | undefined;
  readonly failedNodes: readonly string[];
  readonly failureClass: FailureClass | undefined;
  readonly seen?: Pick<Seen, 'firstMs' | 'beforeMs'> | undefined;
  /** The start of the last success before the failure, if a page shows it. */
  readonly successMs: number | undefined;
};

/** The changes between the last success of a job and its failure. */
export type Explanation = {
  /** The start of the last success; undefined if unknown. */
  readonly successMs: number | undefined;
  readonly suspects: readonly Suspect[];
  /** Things that were watched all the time and did not change. */
  readonly unchanged: readonly string[];
  readonly notWatched: readonly NotWatched[];
  /** The common cause of most failing jobs, if this failure shares it. */
  readonly commonCause?: CommonCause | undefined;
};

type NotWatched = { readonly what: string; readonly reason: string };

type Known = Pick<KeptJournal, 'areas' | 'runs' | 'jobOf'> & {
  readonly changes: readonly Change[];
  readonly refusalOf: Asking['refusalOf'];
  readonly toTime: (atMs: number) => string;
};

/** Lists the suspects of a failure, and what else was compared. */
export function explainFailure(run: FailedRun, known: Known): Explanation {
  const { project, job: path, startedAtMs, failedNodes } = run;
  const { changes, nameOf } = toPresentNames(known.changes);
  const listed = run.jobId === undefined ? undefined : known.jobOf(run.jobId);
  const job = listed === undefined ? nameOf(`${project}/${path}`) : `${listed.project}/${listed.path}`;
  const runs = known.runs.get(`${project}/${path}`) ?? known.runs.get(job);
  const { success } = runs ?? {};
  const keptMs = success !== undefined && success.startedAtMs < startedAtMs ? success.startedAtMs : undefined;
  const successMs = run.successMs ?? keptMs;
  const id = listed === undefined ? findId(known, job) : run.jobId;
  const definition = id === undefined ? undefined : known.areas.get(areaNames.definitionOf(id))?.things.get('');
  const nodes = known.areas.get(areaNames.nodesOf(project))?.things;
  const keysOfNodes = failedNodes.flatMap((node) => toList(nodes?.get(node)?.['.keys']));
  const failure = {
    ...run,
    job,
    successMs,
    failingMs: [run.seen?.firstMs, run.seen?.beforeMs].find((ms = 0) => successMs !== undefined && ms > successMs),
    keys: definition && new Set([...toList(definition['.keys']), ...keysOfNodes]),
    children: new Set(findChildren(id, project, known).keys()),
  };
  const own = changes.filter((change) => !isOfOtherRun(change, failure, runs));
  const suspects = findSuspects(failure, own);
  if (successMs === undefined) return { successMs, suspects, unchanged: [], notWatched: [] };
  const span = { successMs, startedAtMs, keys: failure.keys };
  const watches = toWatches(project, id, known).map((watch) => judge(watch, known, span));
  const hasChanged = (kinds: readonly ChangeKind[]): boolean =>
    suspects.some((suspect) => kinds.includes(suspect.kind));
  return {
    successMs,
    suspects: suspects.slice(0, maxSuspects),
    unchanged: watches.flatMap(({ what, kinds, reason }) => (reason === undefined && !hasChanged(kinds) ? [what] : [])),
    notWatched: watches.flatMap(({ what, reason }) => (reason === undefined ? [] : [{ what, reason }])),
  };
}

const maxSuspects = 5;

/** Reports whether a change describes how another run of the job differed. */
function isOfOtherRun(
  { kind, subject, what, atMs }: Change,
  { job, startedAtMs }: Pick<Failure, 'job' | 'startedAtMs'>,
  { success, last }: JobRuns = {},
): boolean {
  if (kind !== 'run' || subject !== job || atMs === startedAtMs) return false;
  if (success === undefined || last?.facts.startedAtMs !== startedAtMs) return true;
  return toRunText(success, last.facts) !== what;
}

/** Describes a suspect in one line: `key keys/db/prod: changed by bob, at 2026-11-26T01:55:00Z (job, fits)`. */
export function toSuspectText({ kind, subject, what, by, scope, fits, ...times }: Suspect): string {
  const { atMs, afterMs, beforeMs } = times;
  const when =
    atMs === undefined ? `between ${toInstant(afterMs)} and ${toInstant(beforeMs)}` : `at ${toInstant(atMs)}`;
  const name = subject === '' ? 'server' : subject;
  const text = `${kind} ${name}: ${what}${by === undefined ? '' : ` by ${by}`}, ${when} (${scope}${fits ? ', fits' : ''})`;
  return text.slice(0, maxTextLength).toWellFormed();
}

const maxTextLength = 500;

function toInstant(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

function toList(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split('\n');
}

/** Returns the id of a job in the list of its project. */
function findId({ areas }: Pick<Known, 'areas'>, job: string): string | undefined {
  const { project } = ofJobPath(job);
  for (const [id, { path }] of areas.get(areaNames.jobsOf(project))?.things ?? [])
    if (`${project}/${path}` === job) return id;
  return undefined;
}

/** Returns the jobs that a job runs as steps, at any depth, by path and id. */
export function findChildren(
  id: string | undefined,
  project: string,
  known: Pick<KeptJournal, 'areas' | 'jobOf'>,
): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  const waiting = [id];
  while (waiting.length > 0 && found.size < maxChildren) {
    const next = waiting.shift();
    const definition = next === undefined ? undefined : known.areas.get(areaNames.definitionOf(next))?.things.get('');
    for (const child of toList(definition?.['.children'])) {
      const path = toChildPath(child, project, known);
      if (found.has(path)) continue;
      const childId = known.jobOf(child) === undefined ? findId(known, path) : child;
      found.set(path, childId);
      waiting.push(childId);
    }
  }
  return found;
}

const maxChildren = 100;

function toChildPath(child: string, project: string, { jobOf }: Pick<Known, 'jobOf'>): string {
  const job = jobOf(child);
  return job === undefined ? `${project}/${child}` : `${job.project}/${job.path}`;
}

type Watch = {
  readonly what: string;
  readonly kinds: readonly ChangeKind[];
  readonly area: string | undefined;
  /** True if `area` is only the beginning of names of areas. */
  readonly isBegin?: boolean;
  /**
   * The field that must be readable, because some changes are seen only in this field. `of` names the thing with the field; by
   * default, any thing.
   */
  readonly needs?: { readonly field: string; readonly of?: string; readonly hidden: string };
};

function toWatches(project: string, id: string | undefined, { areas }: Pick<Known, 'areas'>): readonly Watch[] {
  const modes = areaNames.modesOf(project);
  const isListed = 'executions' in (areas.get(areaNames.projects)?.things.get(project) ?? {});
  const hasModes = !isListed && [...areas.keys()].some((key) => key.startsWith(modes));
  return [
    {
      what: 'the definition of the job',
      kinds: ['definition'],
      area: id === undefined ? undefined : areaNames.definitionOf(id),
    },
    { what: 'the name and switches of the job', kinds: ['job', 'switch', 'owner'], area: areaNames.jobsOf(project) },
    { what: 'keys', kinds: ['key'], area: areaNames.keysIn(''), isBegin: true },
    { what: 'nodes', kinds: ['node'], area: areaNames.nodesOf(project) },
    {
      what: 'the project',
      kinds: ['project'],
      area: hasModes ? modes : areaNames.projects,
      isBegin: hasModes,
      needs: {
        field: 'executions',
        of: project,
        hidden: 'the server does not show the switches of the project to the token',
      },
    },
    {
      what: 'the server',
      kinds: ['release', 'restart', 'plugin', 'member', 'mode'],
      area: areaNames.server,
      needs: { field: 'start', hidden: 'the token cannot read the start time of the server' },
    },
  ];
}

type Span = { readonly successMs: number } & Pick<Failure, 'startedAtMs' | 'keys'>;

function judge(watch: Watch, { areas, refusalOf, toTime }: Known, { successMs, startedAtMs, keys }: Span) {
  const { area: name } = watch;
  const isOfKeys = name === areaNames.keysIn('');
  const begin = name ?? '';
  const names = watch.isBegin === true ? [...areas.keys()].filter((key) => key.startsWith(begin)) : [begin];
  const found = names.flatMap((key) => areas.get(key) ?? []);
  const refusal = [begin, ...names].map(refusalOf).find((reason) => reason !== undefined);
  if (found.length === 0) return { ...watch, reason: refusal ?? 'not read yet' };
  if (isOfKeys && found.every(({ things }) => things.size === 0))
    return { ...watch, reason: 'the server shows no keys to the token' };
  const hidden = isOfKeys ? [...(keys ?? [])].find((key) => !found.some(({ things }) => things.has(key))) : undefined;
  if (hidden !== undefined) return { ...watch, reason: `the server does not show ${hidden} to the token` };
  const { needs } = watch;
  const isShown = ([id, fields]: readonly [string, Fields]): boolean =>
    needs === undefined || (needs.of ?? id) !== id || needs.field in fields;
  if (!found.some(({ things }) => [...things].every(isShown))) return { ...watch, reason: needs?.hidden };
  const sinceMs = Math.max(...found.map((area) => area.sinceMs));
  const comparedMs = Math.max(...found.map((area) => area.basisMs ?? area.sinceMs));
  // A server may respond with the nodes of the previous request.
  const isStale = watch.kinds.includes('node');
  const readMs = Math.min(...found.map((area) => (isStale ? (area.lastReadMs ?? area.sinceMs) : area.readMs)));
  if (sinceMs > successMs) return { ...watch, reason: `first read at ${toTime(sinceMs)}` };
  if (comparedMs > successMs) return { ...watch, reason: `the server had another release until ${toTime(comparedMs)}` };
  if (readMs < startedAtMs) return { ...watch, reason: refusal ?? `last read at ${toTime(readMs)}` };
  return { ...watch, reason: undefined };
}
