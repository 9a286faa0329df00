import { createProjectList, type ProjectList } from '../../src/api/project-list.ts';
import { createExecutions } from '../../src/executions/executions.ts';
import type { ExecutionsOptions } from '../../src/executions/options.ts';
import { defaultMaxSeries, type ExecutionSettings } from '../../src/executions/settings.ts';
import { boundRows, isOmitted, type Shown } from '../../src/metrics/bound.ts';
import type { Row } from '../../src/metrics/family.ts';
import { renderSamples } from '../../src/metrics/render.ts';
import type { Ledger } from '../../src/state/ledger.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { createDirectSimulator, type DirectOptions } from '../support/direct-simulator.ts';
import { fakeClock } from '../support/fake-clock.ts';

export type Scene = Awaited<ReturnType<typeof createScene>>;

export type SceneOptions = DirectOptions & {
  readonly settings?: Partial<ExecutionSettings>;
  readonly clientVersion?: number;
  /** Wraps the ledger of the daemon. */
  readonly keepBy?: (ledger: Ledger) => Ledger;
  /** The time that passes at each reading of the monotonic clock. */
  readonly tickMs?: number;
  readonly requestsPerSecond?: number;
};

/** Plays rounds with a simulated service; the test moves the clock. */
export async function createScene({
  settings = {},
  clientVersion = 47,
  keepBy = (ledger) => ledger,
  tickMs = 0,
  requestsPerSecond = 10,
  ...options
}: SceneOptions = {}) {
  const simulator = createDirectSimulator({ scenario: 'empty', apiVersion: 47, retained: 1e9, ...options });
  const state = openSqliteState({ memory: true });
  const told: string[] = [];
  let nowMs = birthMs;
  let rows: readonly Row[] = [];
  let fitting: Shown;
  let publishes = 0;
  let series = 0;
  let complaints: readonly string[] | undefined;
  let lag = 0;
  let reads = 0;
  const clock = fakeClock({
    now: () => nowMs,
    ticks: () => {
      reads += 1;
      return nowMs + reads * tickMs;
    },
  });
  const { client, close } = createTestClient({
    url: 'http://127.0.0.1',
    transport: simulator.transport,
    token: fixedSecret(simulator.token),
    dialect: 'rundeck',
    apiVersion: clientVersion,
    budget: { requestsPerSecond: 1_000_000, concurrency: 10 },
    clock,
  });

  let list: ProjectList;

  function start(changed: Partial<ExecutionSettings>, isRestored = false) {
    const ofScene = { ...usual, ...settings, ...changed };
    list = createProjectList({ isWanted: ofScene.isWantedProject, clock });
    return createExecutions({
      server: 'upstream',
      everyMs: 15_000,
      timeoutMs: 10_000,
      requestsPerSecond,
      client,
      ledger: keepBy(state.ledger),
      clock,
      readProjects: list.readDated,
      settings: ofScene,
      isRestored,
      publish: async (published) => {
        const { maxSeries, families } = ofScene;
        const bounded = boundRows(published, { maxSeries, families });
        if (bounded.dropped.cap !== undefined) told.push(`cut ${bounded.dropped.cap}`);
        rows = bounded.rows;
        fitting = bounded.shown;
        publishes += 1;
        return rows.length;
      },
      omits: (row) => isOmitted(row, ofScene.families, fitting),
      withdraw: () => undefined,
      tell: (message) => told.push(message),
      observe: toObserver(told, (seconds) => {
        lag = seconds;
      }),
    });
  }

  let executions = start({});

  async function round(afterMs = 15_000): Promise<string> {
    pass(afterMs);
    const outcome = await executions.read(new AbortController().signal);
    if (outcome.result !== 'success') return outcome.message;
    ({ series, complaints } = outcome);
    return 'success';
  }

  function pass(ms: number): void {
    nowMs += ms;
    simulator.advance(ms);
  }

  return {
    simulator,
    control: simulator.control,
    ledger: state.ledger,
    nowMs: () => nowMs,
    /** Advances the time of the service and of the daemon. */
    pass,
    /** Plays a round some seconds later; returns `success` or the error. */
    round,
    rounds: async (count: number, afterMs?: number) => {
      for (let left = count; left > 0; left -= 1) {
        const outcome = await round(afterMs);
        if (outcome !== 'success') throw new Error(outcome);
      }
    },
    /** The samples of a family that a scrape would show. */
    shown: (family: string) => toLines(rows.filter((row) => row.family.name === family)),
    /** The names and labels of all samples, except those of some families. */
    names: (but: readonly string[]) => {
      const left = rows.filter((row) => !but.includes(row.family.name));
      return left.map(({ family: { name }, labels, suffix, extra }) => [name, suffix, ...labels, extra].join());
    },
    publishes: () => publishes,
    /** Reads the shared project list, as other polls do. */
    listProjects: async () => {
      await list.read(client.within({ lane: 'normal', forMs: 10_000 }));
    },
    /** The number of series that the last round reported. */
    series: () => series,
    complaints: () => complaints,
    /** The reports of rounds, such as `late 2` or `skipped disabled 3`. */
    told,
    lag: () => lag,
    averages: () => executions.averages,
    /** What the credentials can read. */
    visibility: () => executions.status().visibility,
    imports: () => executions.status().imports,
    runningReadMs: (project: string) => executions.runningReadMs(project),
    isShownProject: (project: string) => executions.status().isShownProject(project),
    /** The finished executions that pages list, by id. */
    recent: () => executions.status().recent.map(({ id }) => id),
    /** Restarts the daemon with its stored data and with changed settings. */
    restart: (changed: Partial<ExecutionSettings> = {}, isRestored = false) => {
      executions = start(changed, isRestored);
    },
    stop: async () => {
      await close();
      await state.close();
    },
  };
}

export const birthMs = Date.UTC(2026, 0, 15, 12);

export const usual: ExecutionSettings = {
  overlapMs: 120_000,
  maxDelayMs: 120_000,
  backfillMs: 0,
  catchUpLimitMs: 7 * 86_400_000,
  overdueFactorOf: () => 3,
  overdueFloorMs: 300_000,
  holdNewSeriesMs: 0,
  buckets: [1, 10],
  detail: 200,
  cap: 5000,
  maxSeries: defaultMaxSeries,
  families: new Map(),
  cicd: false,
  isWantedProject: () => true,
  isWantedJob: () => true,
  successAgeMsOf: () => undefined,
};

function toLines(rows: readonly Row[]): string[] {
  return renderSamples(rows)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

export function toObserver(told: string[], onLag: (seconds: number) => void): ExecutionsOptions['observe'] {
  const note =
    (what: string) =>
    (executions: number): void => {
      if (executions > 0) told.push(`${what} ${executions}`);
    };
  const ofReason =
    (what: string) =>
    (reason: string, executions: number): void =>
      note(`${what} ${reason}`)(executions);
  let epoch = 1;
  return {
    observed: () => undefined,
    late: note('late'),
    imported: note('imported'),
    unmeasured: ofReason('unmeasured'),
    skipped: ofReason('skipped'),
    dropped: ofReason('dropped'),
    unknownValue: (field) => told.push(`unknown ${field}`),
    lag: onLag,
    epoch: (next) => {
      if (next !== epoch) told.push(`epoch ${next}`);
      epoch = next;
    },
    entries: () => undefined,
  };
}
