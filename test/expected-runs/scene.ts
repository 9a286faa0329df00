import type { Api } from '../../src/api/client.ts';
import { projectJobs } from '../../src/api/endpoints/jobs.ts';
import { projectsWithModes } from '../../src/api/endpoints/projects.ts';
import { systemInfo } from '../../src/api/endpoints/system.ts';
import { notAsked } from '../../src/api/errors.ts';
import { createProjectList } from '../../src/api/project-list.ts';
import { noPause } from '../../src/domain/pause.ts';
import { createExecutions, type Executions } from '../../src/executions/executions.ts';
import { toExecutionsPort } from '../../src/expected-runs/executions-port.ts';
import { createExpectedRuns } from '../../src/expected-runs/expected-runs.ts';
import { listenTo } from '../../src/expected-runs/listen.ts';
import { defaultDelayBuckets, type ExpectedRunsSettings } from '../../src/expected-runs/settings.ts';
import { createSourceNotes } from '../../src/expected-runs/sources.ts';
import type { Row } from '../../src/metrics/family.ts';
import { renderSamples } from '../../src/metrics/render.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { birthMs, toObserver, usual } from '../executions/scene.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { createDirectSimulator, type DirectOptions } from '../support/direct-simulator.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** The configuration excludes jobs of this name. */
const isWantedJob = (path: string): boolean => !path.includes('unwanted');

/** Executions and the schedule watch of a simulated service; the test moves the clock. */
export function createScene({
  catchUpLimitMs = usual.catchUpLimitMs,
  around = (read) => read(),
  settings = {},
  takesTime = false,
  onCommit = () => undefined,
  ticksPerRead = 0,
  queueMs = 0,
  connectMs = 0,
  lagMs = () => 0,
  isRefused = () => false,
  ...options
}: SceneOptions = {}) {
  const simulator = createDirectSimulator({ scenario: 'empty', apiVersion: 47, retained: 1e9, ...options });
  const state = openSqliteState({ memory: true });
  let nowMs = birthMs;
  let rows: readonly Row[] = [];
  let validForMs = 0;
  let ownSkewMs = 0;
  let reads = 0;
  let queuedMs = 0;
  let outcome: Awaited<ReturnType<ReturnType<typeof start>['expected']['read']>> | undefined;
  const clock = fakeClock({
    now: () => nowMs + ownSkewMs,
    ticks: () => nowMs + (takesTime ? simulator.spentMs() : 0) + queuedMs + (reads += ticksPerRead),
    random: () => 0.5,
  });
  const { client: plain, close } = createTestClient({
    url: 'http://127.0.0.1',
    transport: {
      ...simulator.transport,
      connectMs: () => connectMs,
      get: async (request) => {
        queuedMs += lagMs(simulator.requests().length);
        return simulator.transport.get(request);
      },
    },
    token: fixedSecret(simulator.token),
    dialect: 'rundeck',
    budget: { requestsPerSecond: 1_000_000, concurrency: 10 },
    clock,
  });

  /** Makes each request wait in the exporter before it is sent. */
  function queue(api: Api): Api {
    const getTimed: Api['getTimed'] = async (endpoint, ...input) => {
      queuedMs += queueMs;
      if (isRefused(endpoint.name))
        throw notAsked(endpoint.name, 'timeout', 'the budget is exhausted', { isOwnLimit: true });
      return api.getTimed(endpoint, ...input);
    };
    return { ...api, getTimed, get: async (endpoint, ...input) => (await getTimed(endpoint, ...input)).answer };
  }

  function start(isWatched = true) {
    const notes = createSourceNotes(clock);
    const client = listenTo({ ...plain, within: (scope) => queue(plain.within(scope)) }, notes.listener(undefined));
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
    const port = toExecutionsPort(() => executions);
    const expected = createExpectedRuns({
      ...shared,
      everyMs: 60_000,
      port: {
        ...port,
        commit: async (make) => {
          onCommit();
          await port.commit(make);
        },
      },
      notes,
      surroundings: () => undefined,
      settings: {
        marginMs: 600_000,
        catchUpLimitMs,
        holdNewSeriesMs: 60_000,
        buckets: defaultDelayBuckets,
        maxJobs: 5000,
        isWantedProject: () => true,
        isWantedJob,
        isCriticalJob: (path) => path.includes('critical'),
        ...settings,
      },
      readProjects: list.read,
      publish: async (published, forMs) => {
        rows = published;
        validForMs = forMs;
        return published.length;
      },
    });
    const executions: Executions = createExecutions({
      ...shared,
      everyMs: 15_000,
      requestsPerSecond: 10,
      readProjects: list.readDated,
      settings: { ...usual, overlapMs: 120_000, catchUpLimitMs, isWantedJob },
      ...(isWatched ? { commitHook: expected.commitHook } : {}),
      publish: async (published) => published.length,
      observe: toObserver([], () => undefined),
    });
    return { executions, expected, client, isWatched };
  }

  let daemon = start();

  /** Plays the polls of the daemon for a minute. */
  async function minute(ms = 60_000): Promise<void> {
    nowMs += ms;
    simulator.advance(ms);
    const signal = new AbortController().signal;
    const api = daemon.client.within({ lane: 'normal', forMs: 10_000 });
    if (daemon.isWatched) await daemon.expected.open();
    await api.get(systemInfo);
    if (await api.supports(projectsWithModes)) await api.get(projectsWithModes, { query: { meta: 'config' } });
    await daemon.executions.read(signal);
    if (daemon.isWatched) await around(async () => void (outcome = await daemon.expected.read(signal)));
  }

  return {
    control: simulator.control,
    token: simulator.token,
    requests: simulator.requests,
    spentMs: simulator.spentMs,
    starts: () => simulator.truth().executions.map(({ startedAtMs }) => startedAtMs),
    nowMs: () => nowMs,
    setOwnClock: (skewMs: number): void => {
      ownSkewMs = skewMs;
    },
    minutes: async (count: number): Promise<void> => {
      for (let left = count; left > 0; left -= 1) await minute();
    },
    /** Polls every half hour, for days without events. */
    quickly: async (hours: number): Promise<void> => {
      for (let left = hours * 2; left > 0; left -= 1) await minute(1_800_000);
    },
    /** Polls a number of times at an interval, for tests of months. */
    polls: async (count: number, apartMs: number): Promise<void> => {
      for (let left = count; left > 0; left -= 1) await minute(apartMs);
    },
    /** Advances the time while the daemon is stopped. */
    away: (minutes: number): void => {
      nowMs += minutes * 60_000;
      simulator.advance(minutes * 60_000);
      daemon = start();
    },
    /** Starts the daemon again with the schedule watch switched on or off. */
    restart: (isWatched: boolean): void => {
      daemon = start(isWatched);
    },
    shown: (family: string): string[] =>
      renderSamples(rows.filter((row) => row.family.name === `automation_${family}`))
        .split('\n')
        .filter((line) => line !== ''),
    /** How long the shown series are valid. */
    validForMs: () => validForMs,
    jobs: () => [...daemon.expected.jobs().values()],
    /** Reads the list of jobs, as another collector does. */
    readJobs: async (project: string) =>
      void (await daemon.client.within({ lane: 'normal', forMs: 10_000 }).get(projectJobs, { path: { project } })),
    /** The result of the last poll of the collector. */
    outcome: () => outcome,
    find: (path: string) => daemon.expected.find(path),
    schedule: () => daemon.expected.schedule(noPause),
    windows: (forMs: number) => daemon.expected.outlook.windows({ forMs, withinMs: 2 * 3_600_000, count: 1 }, noPause),
    risks: () => daemon.expected.outlook.risks(12, noPause),
    skipped: (sinceMs: number) =>
      daemon.expected.outlook.skipped({ sinceMs, untilMs: nowMs, successes: new Map() }, noPause),
    stop: async (): Promise<void> => {
      await close();
      await state.close();
    },
  };
}

type SceneOptions = DirectOptions & {
  readonly catchUpLimitMs?: number;
  /** Called around each round of the schedule watch, to measure it. */
  readonly around?: (read: () => Promise<void>) => Promise<void>;
  /** True if each response takes the time that a real server needs. */
  readonly takesTime?: boolean;
  /** The time in ms that passes between two reads of the clock. */
  readonly ticksPerRead?: number;
  /** The time that each request waits before it is sent. */
  readonly queueMs?: number;
  /** The time that it takes to open a connection. */
  readonly connectMs?: number;
  /** The delay of a response, by the number of requests before it. */
  readonly lagMs?: (requests: number) => number;
  /** Reports whether a request waited so long that it is not sent. */
  readonly isRefused?: (endpoint: string) => boolean;
  /** Called before each commit, which fails if it throws. */
  readonly onCommit?: () => void;
  /** Settings of the schedule watch that differ from the usual settings. */
  readonly settings?: Partial<ExpectedRunsSettings>;
};
