import type { Window } from '../../api/paging.ts';
import type { ProjectState } from './project-state.ts';

/** Returns the time up to which every end of a project has been read, except for its backlog. */
export function readThroughMs({ aheadThroughMs, scannedThroughMs }: ProjectState): number {
  return aheadThroughMs ?? scannedThroughMs;
}

/** Returns the next window of the backlog to read: its oldest part, at most a day. */
export function toNextWindow({ backlog = [] }: ProjectState): Window | undefined {
  const [oldest] = backlog;
  return oldest && { beginMs: oldest.beginMs, endMs: Math.min(oldest.endMs, oldest.beginMs + dayMs - 1) };
}

/**
 * Notes that a window up to now has been read, except for the rest. After a clock was set back, everything later than now goes
 * with it.
 */
export function withNewestRead(state: ProjectState, window: Window, rest: readonly Window[]): ProjectState {
  const { againFromMs: _again, ...kept } = state;
  return withRead(kept, window, rest, window.endMs);
}

/**
 * Notes the same of a project that is behind: the backlog continues where it is, and what was read before is read again after it.
 * Otherwise an overlap that no round has time for would be begun in every round, and never be done.
 */
export function withNewestReadBehind(
  state: ProjectState,
  window: Window,
  { rest, sinceMs, newFromMs }: { rest: readonly Window[]; sinceMs: number; newFromMs: number },
): ProjectState {
  const { backlog = [], againFromMs } = state;
  const open = backlog.flatMap((each) => rest.flatMap((other) => common(each, other)));
  const fresh = rest.flatMap((each) => from(each, newFromMs));
  const read = withNewestRead(state, window, [...open, ...fresh]);
  const isOverlapRead = rest.every(({ endMs }) => endMs < sinceMs);
  // What an earlier round left stays to be read, although this one has read its own overlap.
  const leftFromMs = isOverlapRead ? againFromMs : Math.min(againFromMs ?? sinceMs, sinceMs);
  return leftFromMs === undefined ? read : { ...read, againFromMs: leftFromMs };
}

/** Cuts a window to the part from a time on. */
export function from({ beginMs, endMs }: Window, fromMs: number): Window[] {
  const laterMs = Math.max(beginMs, fromMs);
  return endMs < laterMs ? [] : [{ beginMs: laterMs, endMs }];
}

function common(one: Window, other: Window): Window[] {
  return from({ beginMs: one.beginMs, endMs: Math.min(one.endMs, other.endMs) }, other.beginMs);
}

/** Notes that a window of the backlog has been read, except for the rest. */
export function withPastRead(state: ProjectState, window: Window, rest: readonly Window[]): ProjectState {
  return withRead(state, window, rest, readThroughMs(state));
}

/** The same, read no further than up to a time. */
export function withThrough(state: ProjectState, throughMs: number): ProjectState {
  const outside = { beginMs: throughMs + 1, endMs: throughMs + 1 };
  return withRead(state, outside, [], Math.min(throughMs, readThroughMs(state)));
}

function withRead(state: ProjectState, window: Window, rest: readonly Window[], throughMs: number): ProjectState {
  const { aheadThroughMs: _ahead, backlog: before = [], ...kept } = state;
  const left = before.flatMap((each) => without(each, window));
  const backlog = unite([...left, ...rest].flatMap((each) => until(each, throughMs)));
  const [oldest] = backlog;
  if (oldest === undefined) return { ...kept, scannedThroughMs: throughMs };
  const scannedThroughMs = Math.min(throughMs, Math.max(state.scannedThroughMs, oldest.beginMs - 1));
  return { ...kept, scannedThroughMs, aheadThroughMs: throughMs, backlog };
}

function without({ beginMs, endMs }: Window, taken: Window): Window[] {
  const older = { beginMs, endMs: Math.min(endMs, taken.beginMs - 1) };
  const newer = { beginMs: Math.max(beginMs, taken.endMs + 1), endMs };
  return [older, newer].filter((each) => each.beginMs <= each.endMs);
}

function until({ beginMs, endMs }: Window, throughMs: number): Window[] {
  return beginMs > throughMs ? [] : [{ beginMs, endMs: Math.min(endMs, throughMs) }];
}

/** Oldest first, and one where they overlap; too many are read as if they did. */
function unite(windows: readonly Window[]): Window[] {
  const united: Window[] = [];
  for (const each of windows.toSorted((one, other) => one.beginMs - other.beginMs)) {
    const last = united.at(-1);
    if (last === undefined || (each.beginMs > last.endMs && united.length < mostWindows)) united.push(each);
    else united[united.length - 1] = { beginMs: last.beginMs, endMs: Math.max(last.endMs, each.endMs) };
  }
  return united;
}

const dayMs = 86_400_000;
const mostWindows = 50;
