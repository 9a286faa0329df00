import type { Api } from '../../api/client.ts';
import { runningExecutions } from '../../api/endpoints/executions.ts';
import { ApiError, isUnknownStar } from '../../api/errors.ts';
import { readList } from '../../api/paging.ts';
import type { Execution } from '../../domain/execution.ts';
import type { OddRows } from './window-reader.ts';

export type Running = {
  /** The running executions; undefined if no project can be read, or if some projects have not been read yet. */
  readonly executions: readonly Execution[] | undefined;
  readonly serverMs: number | undefined;
  /** Projects whose running executions the token cannot read; undefined if one response covers all projects. */
  readonly denied?: 'all' | ReadonlySet<string> | undefined;
  /** The ticks at which each readable project was read; absent if all were read just now. */
  readonly readTicks?: ReadonlyMap<string, number> | undefined;
};

type Open = (lane: 'vital' | 'normal') => Api;

/** Returns the start times of the members that responded recently. */
export type MemberStarts = () => ReadonlyMap<string, number>;

/**
 * Reads running and waiting executions. Releases without the project `*` need a request for each project, so rounds read a few.
 */
export function createRunningReader(ticks: () => number, onOddRows: OddRows['note'], memberStarts?: MemberStarts) {
  const known = new Map<string, readonly Execution[]>();
  const denied = new Set<string>();
  const readTicks = new Map<string, number>();
  let isComplete = false;
  let oneByOneUntilTicks = Number.NEGATIVE_INFINITY;
  let lastAsked = '';

  async function readNext(open: Open, projects: readonly string[]): Promise<Running> {
    let serverMs: number | undefined;
    const names = new Set(projects);
    for (const project of [...known.keys(), ...denied]) if (!names.has(project)) forget(project);
    let isAnswered = false;
    for (const project of chooseNext(projects)) {
      const askedTicks = ticks();
      const read = await readOf(open('normal'), project, onOddRows).catch((error: unknown) =>
        toNothing(error, isAnswered),
      );
      // The exporter's own limits permit no more requests in this round; the next round continues with the same project.
      if (read === undefined) break;
      isAnswered = true;
      lastAsked = project;
      serverMs ??= read.serverMs;
      known.set(project, read.executions ?? []);
      if (read.executions === undefined) readTicks.delete(project);
      else readTicks.set(project, askedTicks);
      const wasDenied = denied.delete(project);
      if (read.denied !== undefined) denied.add(project);
      // Perhaps the token can now read all projects together.
      else if (wasDenied) oneByOneUntilTicks = Number.NEGATIVE_INFINITY;
    }
    isComplete ||= projects.every((project) => known.has(project));
    // If some projects were denied and none was read, all count as denied, because missing and disabled projects prove nothing.
    if (isComplete && denied.size > 0 && readTicks.size === 0) return { ...nothing, serverMs, denied: 'all' };
    const executions = isComplete ? [...known.values()].flat() : undefined;
    return { executions, serverMs, denied: new Set(denied), readTicks: new Map(readTicks) };
  }

  function forget(project: string): void {
    known.delete(project);
    readTicks.delete(project);
    denied.delete(project);
  }

  /** Chooses projects that had running executions last time, the next projects in turn, and the project denied longest ago. */
  function chooseNext(projects: readonly string[]): ReadonlySet<string> {
    const place = projects.indexOf(lastAsked) + 1;
    const [longest] = denied;
    const next = [...projects.slice(place), ...projects.slice(0, place)]
      .filter((project) => project === longest || !denied.has(project))
      .slice(0, maxPerRound);
    const busy = projects.filter((project) => (known.get(project)?.length ?? 0) > 0);
    return new Set([...busy.filter((project) => !next.includes(project)), ...next]);
  }

  async function readAll(open: Open, projects: readonly string[]): Promise<Running> {
    if (ticks() < oneByOneUntilTicks) return readNext(open, projects);
    const api = open('vital');
    try {
      return await readOf(api, '*', onOddRows);
    } catch (error) {
      if (!isUnknownStar(error, api.server().release)) {
        // If the request for all projects is denied, no project can be read: no error, but the running executions are unknown.
        if (error instanceof ApiError && error.kind === 'forbidden') return { ...nothing, denied: 'all' };
        throw error;
      }
    }
    if (projects.length === 0) return nothing;
    const read = await readNext(open, projects);
    const { release = '' } = api.server();
    oneByOneUntilTicks = ticks() + (release === '' ? unknownForMs : oneByOneForMs);
    return read;
  }

  return async (open: Open, projects: readonly string[]): Promise<Running> =>
    withInterruptions(await readAll(open, projects), memberStarts?.());
}

const nothing: Running = { executions: undefined, serverMs: undefined };

/** How long projects are read one by one. Then one request for all is tried again: the server may have been upgraded. */
const oneByOneForMs = 3_600_000;
/** A server of an unknown release may have failed only once, so the next try comes earlier. */
const unknownForMs = 60_000;
const maxPerRound = 25;

/**
 * Returns no running executions for a missing, disabled or denied project, so that other projects are still read. Returns
 * undefined if the exporter's own limits prevented the request.
 */
function toNothing(error: unknown, isAnswered: boolean): Running | undefined {
  if (error instanceof ApiError && error.details.isOwnLimit === true && isAnswered) return undefined;
  const isOfProject = error instanceof ApiError && error.details.isOfService === true;
  if (isOfProject && error.kind === 'forbidden') return { ...nothing, denied: 'all' };
  if (isOfProject && error.kind === 'not_found') return nothing;
  throw error;
}

async function readOf(api: Api, project: string, onOddRows: OddRows['note']): Promise<Running> {
  let serverMs: number | undefined;
  const read = async (page: { max: number; offset: number }) => {
    const query = { ...page, includePostponed: true };
    const timed = await api.getTimed(runningExecutions, { path: { project }, query });
    serverMs ??= timed.serverMs;
    onOddRows(project, timed.answer.oddRows);
    return timed.answer;
  };
  const options = { apiEndpoint: runningExecutions.name, idOf: ({ id }: Execution) => id, overlap: 20, maxPages: 40 };
  const executions = await readList(read, options);
  return { executions, serverMs };
}

/** Marks executions that were running before their member started. After a crash, some servers list them for ever. */
function withInterruptions(read: Running, starts: ReturnType<MemberStarts> | undefined): Running {
  const { executions, serverMs = Number.POSITIVE_INFINITY } = read;
  const mark = (execution: Execution): Execution => {
    const { status, startedAtMs, memberUuid = '' } = execution;
    const interruptedAtMs = (status === 'running' ? starts?.get(memberUuid) : undefined) ?? Number.NEGATIVE_INFINITY;
    // A start that was read before the clock was set back may be in the future.
    return startedAtMs < interruptedAtMs && interruptedAtMs <= serverMs ? { ...execution, interruptedAtMs } : execution;
  };
  return { ...read, executions: executions?.map(mark) };
}
