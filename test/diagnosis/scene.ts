import { expect, onTestFinished } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { projectJobs } from '../../src/api/endpoints/jobs.ts';
import {
  projectDisablesExecutions,
  projectDisablesSchedule,
  projectMeta,
  projects,
  projectsWithModes,
} from '../../src/api/endpoints/projects.ts';
import { systemInfo } from '../../src/api/endpoints/system.ts';
import { createProjectList } from '../../src/api/project-list.ts';
import { type ChangesSettings, createChanges } from '../../src/diagnosis/changes/changes.ts';
import { noPause } from '../../src/domain/pause.ts';
import { createExecutions, type Executions } from '../../src/executions/executions.ts';
import { joinHooks } from '../../src/executions/trace-port.ts';
import { toExecutionsPort } from '../../src/expected-runs/executions-port.ts';
import { createExpectedRuns } from '../../src/expected-runs/expected-runs.ts';
import { listenTo } from '../../src/expected-runs/listen.ts';
import { defaultDelayBuckets } from '../../src/expected-runs/settings.ts';
import { createSourceNotes } from '../../src/expected-runs/sources.ts';
import type { Row } from '../../src/metrics/family.ts';
import { renderSamples } from '../../src/metrics/render.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { birthMs, toObserver, usual } from '../executions/scene.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { createDirectSimulator, type DirectOptions } from '../support/direct-simulator.ts';
import { fakeClock } from '../support/fake-clock.ts';

type Options = Omit<DirectOptions, 'token'> & {
  readonly settings?: Partial<ChangesSettings>;
  /** A token without rights on keys, nodes and the server. */
  readonly token?: string;
};

/** Reads the switches of a project as on an older server. */
async function readModes(api: Api, project: string): Promise<void> {
  const path = { project };
  if (await api.supports(projectMeta)) await api.get(projectMeta, { path, query: { meta: 'config' } });
  else for (const each of [projectDisablesExecutions, projectDisablesSchedule]) await api.get(each, { path });
}

/** A simulated server with its executions, schedules and journal; the test moves the clock. */
export function createScene({ settings = {}, token, ...options }: Options = {}) {
  const simulator = createDirectSimulator({ scenario: 'empty', retained: 1e9, ...options });
  if (token !== undefined) simulator.control.addToken({ token, policy: { systemRead: false, nodes: [] } });
  const state = openSqliteState({ memory: true });
  let nowMs = birthMs;
  let rows: readonly Row[] = [];
  let isFull = false;
  let meanwhile: (() => Promise<unknown>) | undefined;
  const clock = fakeClock({ now: () => nowMs, ticks: () => nowMs, random: () => 0.5 });
  const { client: plain, close } = createTestClient({
    url: 'http://127.0.0.1',
    transport: simulator.transport,
    token: fixedSecret(token ?? simulator.token),
    dialect: 'rundeck',
    budget: { requestsPerSecond: 1_000_000, concurrency: 10 },
    clock,
  });
  onTestFinished(close);

  function start() {
    const notes = createSourceNotes(clock);
    const listener = notes.listener(undefined);
    const client = listenTo(plain, {
      ...listener,
      answered: (endpoint, path, answer, tookMs) => {
        listener.answered(endpoint, path, answer, tookMs);
        changes.receive({ member: undefined, endpoint, path, answer }, tookMs);
      },
    });
    const list = createProjectList({ isWanted: () => true, clock });
    const shared = {
      server: 'upstream',
      timeoutMs: 10_000,
      client,
      clock,
      ledger: state.ledger,
      omits: () => false,
      withdraw: () => undefined,
    };
    const all = { isWantedProject: () => true, isWantedJob: () => true };
    const expected = createExpectedRuns({
      ...shared,
      everyMs: 60_000,
      port: toExecutionsPort(() => executions),
      notes,
      surroundings: () => changes.surroundings(),
      settings: {
        ...all,
        marginMs: 600_000,
        catchUpLimitMs: usual.catchUpLimitMs,
        holdNewSeriesMs: 60_000,
        buckets: defaultDelayBuckets,
        maxJobs: 5000,
        isCriticalJob: () => false,
      },
      readProjects: list.read,
      publish: async (published) => published.length,
    });
    const changes = createChanges({
      isRestored: false,
      ...shared,
      everyMs: 60_000,
      requestsPerSecond: 10,
      commit: async (...change) => {
        await meanwhile?.();
        if (isFull) throw new Error('the disk is full');
        await toExecutionsPort(() => executions).commit(...change);
      },
      serverNowMs: notes.serverNowMs,
      settings: { ...all, holdNewSeriesMs: 60_000, namesUsers: true, ...settings },
      publish: async (published) => {
        rows = published;
        return published.length;
      },
    });
    const executions: Executions = createExecutions({
      ...shared,
      everyMs: 15_000,
      requestsPerSecond: 10,
      readProjects: list.readDated,
      settings: { ...usual, overlapMs: 120_000 },
      commitHook: joinHooks([expected.commitHook, changes.commitHook]),
      publish: async (published) => published.length,
      observe: toObserver([], () => undefined),
    });
    return { executions, expected, changes, client };
  }

  let daemon = start();

  /** Plays the polls of the daemon for a minute. */
  async function minute(act: () => void): Promise<void> {
    nowMs += 60_000;
    simulator.advance(60_000);
    const signal = new AbortController().signal;
    const { client, executions, expected, changes } = daemon;
    const api = client.within({ lane: 'normal', forMs: 10_000 });
    await expected.open();
    await changes.open();
    await api.get(systemInfo);
    if (await api.supports(projectsWithModes)) await api.get(projectsWithModes, { query: { meta: 'config' } });
    else for (const { name } of await api.get(projects)) await readModes(api, name);
    await executions.read(signal);
    await expected.read(signal);
    act();
    if (isFull) await expect(changes.read(signal)).rejects.toThrow('the disk is full');
    else await changes.read(signal);
  }

  return {
    control: simulator.control,
    token: simulator.token,
    truth: simulator.truth,
    requests: simulator.requests,
    nowMs: () => nowMs,
    /** Lets minutes pass; in each, the action follows the read of the job lists. */
    minutes: async (count: number, act: () => void = () => undefined): Promise<void> => {
      for (let left = count; left > 0; left -= 1) await minute(act);
    },
    /** Lets no change be stored, as on a full disk. */
    fill: (isFullNow: boolean, act?: () => void): void => {
      isFull = isFullNow;
      meanwhile =
        act &&
        (() => {
          act();
          return daemon.client.within({ lane: 'normal', forMs: 10_000 }).get(projectJobs, { path: { project: 'pay' } });
        });
    },
    /** Lets time pass while the exporter does not run. */
    away: (minutes: number): void => {
      nowMs += minutes * 60_000;
      simulator.advance(minutes * 60_000);
      daemon = start();
    },
    explain: (run: Parameters<ReturnType<typeof start>['changes']['explain']>[0]) => daemon.changes.explain(run),
    noteClass: (failureClass: 'access' | 'work') => {
      const run = { project: 'pay', job: 'some job', startedAtMs: nowMs, failedNodes: [], successMs: undefined };
      return daemon.changes.explainAtOnce({ ...run, failureClass }, undefined);
    },
    commonCause: () => daemon.changes.commonCause(),
    surroundings: () => daemon.changes.surroundings(),
    daemon: () => daemon,
    watched: (id: string) => daemon.expected.jobs().get(id),
    risks: () => daemon.expected.outlook.risks(12, noPause),
    changes: () => daemon.changes.list(),
    /** One line per change, newest first, with the minutes before and after it. */
    told: (): string[] =>
      daemon.changes.list().map(({ kind, subject, what, by, afterMs, beforeMs }) => {
        const [after, before] = [afterMs, beforeMs].map((ms) => (ms - birthMs) / 60_000);
        return `${kind} ${subject}: ${what}${by === undefined ? '' : ` by ${by}`} (${after}, ${before}]`;
      }),
    shown: (): string[] =>
      [...Map.groupBy(rows, ({ family }) => family).values()]
        .map((ofFamily) => renderSamples(ofFamily))
        .join('')
        .split('\n')
        .filter((line) => line !== ''),
    stored: () => state.ledger.load('upstream'),
  };
}
