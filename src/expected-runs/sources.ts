import type { Endpoint } from '../api/endpoint.ts';
import { type Job, projectJobs } from '../api/endpoints/jobs.ts';
import {
  projectDisablesExecutions,
  projectDisablesSchedule,
  projectMeta,
  projects,
} from '../api/endpoints/projects.ts';
import { executionMode, systemInfo } from '../api/endpoints/system.ts';
import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { type Clocks, createClockNotes } from './clocks.ts';
import { type Sources, sourceKeys, timelineOf } from './deciding/sources.ts';
import { forgetBefore, noteReading, type Span, type Timeline } from './deciding/timeline.ts';
import type { Listener } from './listen.ts';

export type SourceNotes = {
  /** Returns the listener for the client of a member, or of the common address, which several members may share. */
  readonly listener: (member: string | undefined, isShared?: () => boolean) => Listener;
  readonly all: () => Sources;
  /** Returns the server time according to the server's responses. */
  readonly serverNowMs: () => number;
  /** Returns the server time of the last response of the server or of a member. The time is kept over restarts. */
  readonly lastAnswerMs: (member?: string) => number | undefined;
  readonly clocks: Pick<Clocks, 'aheadMs' | 'behindMs'>;
  /** Inserts stored readings before the readings since the start. */
  readonly restore: (kept: Sources) => void;
  /** Returns the keys that changed since the last call. */
  readonly takeChanged: () => readonly string[];
  readonly forget: (beforeMs: number) => void;
  /**
   * Returns the number of scheduler threads of a member. If it is unknown, or without a member, returns the number of the
   * member that responded last.
   */
  readonly threads: (uuid?: string) => number | undefined;
  /** Returns the job lists by project that any poll has read since the last call. Before the first call, no list is stored. */
  readonly takeJobLists: () => ReadonlyMap<string, ReceivedList>;
};

/** A list of jobs, and the server time before its request. */
export type ReceivedList = { readonly listed: readonly Job[]; readonly atMs: number };

/** Stores readings of all polls that may explain a missed run. Sends no requests. */
export function createSourceNotes(clock: Pick<Clock, 'now' | 'ticks'>): SourceNotes {
  const timelines = new Map<string, Timeline>();
  const changed = new Set<string>();
  const uuids = new Map<string, string>();
  const { clocks, ...clockNotes } = createClockNotes(clock, timelines, changed);
  const serverNowMs = clocks.nowMs;
  const jobLists = createJobLists(clock, serverNowMs);
  const receiveProjects = createProjectNotes(note);
  const threads = new Map<string, number>();

  function note(key: string, value: string): void {
    timelines.set(key, noteReading(timelineOf(timelines, key), value, serverNowMs()));
    changed.add(key);
  }

  function received({ member, isShared }: Asked, endpoint: Endpoint<unknown>, about: About): void {
    const { answer } = about;
    // One member's response does not show the mode of the whole server.
    if (isShared && timelines.delete(sourceKeys.mode())) changed.add(sourceKeys.mode());
    clockNotes.receive(isOf(systemInfo, endpoint, answer) ? answer : undefined);
    note(toContact(member), 'answered');
    if (isOf(systemInfo, endpoint, answer)) noteInfo({ member, isShared }, answer);
    else noteMember(member);
    const uuid = member === undefined ? toCommon(isShared) : uuids.get(member);
    const isMode = isOf(executionMode, endpoint, answer) && answer !== undefined;
    if (isMode && uuid !== undefined) note(sourceKeys.mode(uuid), answer);
    for (const receive of [jobLists.receive, receiveProjects]) receive(endpoint, about);
  }

  /** Records that a member responded. Any response counts, because system information may be denied or seldom requested. */
  function noteMember(member = ''): void {
    const uuid = uuids.get(member);
    if (uuid !== undefined) note(sourceKeys.member(uuid), 'answered');
  }

  function failed(member: string | undefined, error: unknown): void {
    const isSilent = isSilence(error);
    if (member === undefined) return isSilent ? note(sourceKeys.contact, 'failed') : undefined;
    // The next response at the same address may come from another member.
    if (isSilent) uuids.delete(member);
    else if (error instanceof ApiError && error.details.isOfService === true) noteMember(member);
  }

  function noteInfo({ member, isShared }: Asked, info: Info): void {
    const { serverUUID } = info.server;
    if (member !== undefined && serverUUID !== undefined) uuids.set(member, serverUUID);
    if (serverUUID !== undefined) note(sourceKeys.member(serverUUID), toSight(uuids, serverUUID));
    const uuid = member === undefined ? '' : serverUUID;
    if (uuid === undefined) return;
    const modeOf = member === undefined ? (toCommon(isShared) ?? serverUUID) : uuid;
    if (info.executionMode !== undefined && modeOf !== undefined) note(sourceKeys.mode(modeOf), info.executionMode);
    const { scheduler, uptime } = info.stats;
    const start = sourceKeys.start(uuid);
    if (uptime.since !== undefined) note(start, toStart(timelineOf(timelines, start), uptime.since));
    if (scheduler.running === undefined || scheduler.threadPoolSize === undefined) return;
    for (const key of ['', serverUUID ?? '']) threads.set(key, scheduler.threadPoolSize);
    note(sourceKeys.threads(uuid), scheduler.running >= scheduler.threadPoolSize ? 'full' : 'free');
  }

  return {
    listener: (member, isShared = () => false) => ({
      answered: (endpoint, { project }, answer, tookMs) =>
        received({ member, isShared: isShared() }, endpoint, { answer, project, tookMs }),
      failed: (error) => failed(member, error),
    }),
    all: () => timelines,
    serverNowMs,
    lastAnswerMs: (member) => findAnswer(timelineOf(timelines, toContact(member)))?.throughMs,
    clocks,
    restore: (kept) => clockNotes.joinAbsence(timelineOf(kept, sourceKeys.skew).at(-1), joinKept(timelines, kept)),
    takeChanged: () => takeAll(changed),
    forget: (beforeMs) => {
      for (const [key, timeline] of timelines) timelines.set(key, forgetBefore(timeline, beforeMs));
    },
    threads: (uuid = '') => threads.get(uuid) ?? threads.get(''),
    takeJobLists: jobLists.take,
  };
}

/** Servers compute their start from their uptime, so the start varies by milliseconds. */
function toStart(known: Timeline, startedAtMs: number): string {
  const { value = '' } = known.at(-1) ?? {};
  return value !== '' && Math.abs(startedAtMs - Number(value)) < sameStartMs ? value : String(startedAtMs);
}

const sameStartMs = 2000;

/** Returns whether a member answered at its own address, or was seen at a common address, where silence proves nothing. */
function toSight(uuids: ReadonlyMap<string, string>, uuid: string): 'answered' | 'seen' {
  return [...uuids.values()].includes(uuid) ? 'answered' : 'seen';
}

function createJobLists(clock: Pick<Clock, 'ticks'>, serverNowMs: () => number) {
  const began = new Map<string, number>();
  let lists: Map<string, ReceivedList> | undefined;
  return {
    receive: (endpoint: Endpoint<unknown>, { answer, project, tookMs }: About): void => {
      if (lists === undefined || project === undefined || !isOf(projectJobs, endpoint, answer)) return;
      const beganTicks = clock.ticks() - tookMs;
      // The list of a later request arrived first.
      if (beganTicks < (began.get(project) ?? -Infinity)) return;
      began.set(project, beganTicks);
      lists.set(project, { listed: answer, atMs: serverNowMs() - tookMs });
    },
    take: (): ReadonlyMap<string, ReceivedList> => {
      const taken = lists ?? new Map<string, ReceivedList>();
      lists = new Map();
      return taken;
    },
  };
}

function createProjectNotes(note: (key: string, value: string) => void) {
  const half = new Map<string, boolean>();

  function noteProject(project: string, executions: boolean | undefined, schedule: boolean | undefined): void {
    if (executions === undefined || schedule === undefined) return;
    note(sourceKeys.project(project), toProjectMode(executions, schedule));
  }

  return (endpoint: Endpoint<unknown>, { answer, project = '' }: About): void => {
    if (isOf(projects, endpoint, answer)) {
      for (const { name, executionsEnabled, scheduleEnabled } of answer)
        noteProject(name, executionsEnabled, scheduleEnabled);
    }
    if (isOf(projectMeta, endpoint, answer)) noteProject(project, answer.executionsEnabled, answer.scheduleEnabled);
    // Older servers report the two switches in two responses.
    if (isOf(projectDisablesExecutions, endpoint, answer)) half.set(project, answer);
    if (isOf(projectDisablesSchedule, endpoint, answer)) noteProject(project, !(half.get(project) ?? false), !answer);
  };
}

/** Adds stored readings to timelines. Returns the first difference of the clocks since the start. */
function joinKept(timelines: Map<string, Timeline>, kept: Sources): Timeline[number] | undefined {
  const [first] = timelineOf(timelines, sourceKeys.skew);
  for (const [key, timeline] of kept) timelines.set(key, putBefore(timelineOf(timelines, key), timeline));
  return first;
}

/** Inserts stored readings before later readings. */
function putBefore(received: Timeline, kept: Timeline): Timeline {
  const [first] = received;
  return [...kept.filter(({ throughMs }) => first === undefined || throughMs < first.fromMs), ...received];
}

function toContact(member: string | undefined): string {
  return member === undefined ? sourceKeys.contact : sourceKeys.contactOf(member);
}

type Asked = { readonly member: string | undefined; readonly isShared: boolean };

function toCommon(isShared: boolean): '' | undefined {
  return isShared ? undefined : '';
}

function takeAll(keys: Set<string>): readonly string[] {
  const taken = [...keys];
  keys.clear();
  return taken;
}

function findAnswer(contact: Timeline): Span | undefined {
  return contact.findLast(({ value }) => value === 'answered');
}

type About = { readonly answer: unknown; readonly project: string | undefined; readonly tookMs: number };
type Info = typeof systemInfo extends Endpoint<infer Answer> ? Answer : never;

function isOf<Answer>(wanted: Endpoint<Answer>, endpoint: Endpoint<unknown>, answer: unknown): answer is Answer {
  return wanted.name === endpoint.name && answer !== null;
}

function toProjectMode(executions: boolean, schedule: boolean): string {
  if (executions) return schedule ? 'active' : 'schedule_disabled';
  return schedule ? 'executions_disabled' : 'disabled';
}

/** Reports whether an error means that the server does not respond. Refused credentials and "busy" are responses. */
function isSilence(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.details.unsent === true) return false;
  if (error.details.status === undefined) return error.kind !== 'unsupported_version' && isOfWholeServer(error);
  return error.kind === 'server' && isOfWholeServer(error);
}
