import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { Project } from '../api/endpoints/projects.ts';
import type { Memory } from '../domain/memory.ts';
import type { Family, LabelPair, Row } from '../metrics/family.ts';

/** The reasons why a collector has no series although no error occurred. */
const offReasons = ['config', 'version', 'denied', 'not_found', 'meaningless'] as const;
export type OffReason = (typeof offReasons)[number];

/** The reason why a response has no values, and a sentence that explains it. */
type Off = { readonly reason: OffReason; readonly message: string };

type Families = Readonly<Record<string, Family>>;

type DividesMinute = 1 | 2 | 3 | 4 | 5 | 6 | 10 | 12 | 15 | 20 | 30;
type DividesDay = 1 | 2 | 3 | 4 | 6 | 8 | 12;

/** An interval that divides a minute, an hour or a day. Cron cannot repeat other intervals evenly. */
type EvenInterval = `${DividesMinute}s` | `${DividesMinute}m` | `${DividesDay}h` | '1d';

type CollectorData<Metrics extends Families> = {
  /** The value of `collector` in metrics, and the name in the configuration. */
  name: string;
  help: string;
  /** The default interval, written as in the configuration. */
  every: EvenInterval;
  on: boolean;
  /** The data that the collector reads only for projects in the configuration. */
  projects?: string;
  /** The maximum number of series of the collector for a server, if not the default. */
  maxSeries?: number;
  /** The endpoints that the collector may request, and that `check` tries. */
  reads: readonly Endpoint<unknown>[];
  metrics: Metrics;
};

type CollectorDefinition<Answer, Metrics extends Families> = CollectorData<Metrics> & {
  /** True for vital polls, which decide `automation_up` and readiness. */
  readonly vital?: boolean;
  /** True if values belong to one cluster member, so that each member is polled. */
  readonly perMember?: boolean;
  /** Sends requests and does nothing else. The memory may determine which requests are sent. */
  readonly fetch: (api: Api, watch: Watch, before: Memory) => Promise<Answer>;
  /** Returns a reason if the response has no values. With a reason, the collector has no series and is reported as off. */
  readonly off?: (answer: Answer) => Off | undefined;
  /** Returns problems that a person should see although the poll succeeded, as ends of sentences. Has no side effects. */
  readonly complaints?: (answer: Answer, about: { memory: Memory; nowMs: number }) => readonly string[];
  /** Returns the memory for the next poll. Has no side effects. */
  readonly remember?: (answer: Answer, before: Memory, nowMs: number) => Memory;
  /** Returns a log line about a change of the memory. Has no side effects. */
  readonly news?: (memory: Memory, before: Memory) => News | undefined;
  /** Converts a response to rows. Pure: no I/O, clock or log. */
  readonly map: (answer: Answer, metrics: Metrics, about: { memory: Memory; watch: Watch }) => Row[];
};

/** A change of the server that is logged. */
export type News = {
  readonly level: 'info' | 'warn';
  readonly message: string;
  /** The duration of the previous state, if known. */
  readonly afterSeconds?: number;
};

export type ProjectCollectorDefinition<Answer, Metrics extends Families> = CollectorData<Metrics> & {
  /** Sends one request for all projects, if the server supports it. Returns responses by project, or undefined. */
  readonly fetchAll?: (api: Api, watch: Watch) => Promise<ReadonlyMap<string, Answer> | undefined>;
  /** Reports whether a project is read; by default, all watched projects are. */
  readonly covers?: (project: string, watch: Watch) => boolean;
  /** True if the whole server is also read, as a project without a name. */
  readonly andServer?: boolean;
  /** Sends the requests for one project and does nothing else. */
  readonly fetch: (api: Api, project: ProjectToAsk, watch: Watch) => Promise<Answer>;
  /** Converts the response about a project to rows. Pure: no I/O, clock or log. */
  readonly map: (answer: Answer, metrics: Metrics, about: { project: string; watch: Watch }) => Row[];
};

/** One project of a pass; the name is empty for the whole server. Projects that share a limit record their needs in `needs`. */
export type ProjectToAsk = { readonly name: string; readonly needs: Map<string, number | undefined> };

export type Collector =
  | ServerCollector
  | ProjectCollector
  | ExecutionsCollector
  | ExpectedRunsCollector
  | ChangesCollector;

type CommonParts = CollectorData<Families> & { vital: boolean; perMember: boolean };

export type ServerCollector = CommonParts & {
  readonly kind: 'server';
  readonly collect: (api: Api, watch: Watch, before: Memory, now: () => number) => Promise<Collected>;
};

type Collected =
  | { readonly off: Off }
  | {
      readonly off?: undefined;
      readonly rows: readonly Row[];
      readonly memory: Memory;
      readonly complaints: readonly string[];
      readonly news?: News | undefined;
    };

/** A collector that reads project by project, spread over its interval. An error of one project does not affect others. */
export type ProjectCollector = CommonParts & {
  readonly kind: 'project';
  readonly andServer: boolean;
  readonly collectAll: (api: Api, watch: Watch) => Promise<ReadonlyMap<string, readonly Row[]> | undefined>;
  readonly covers: (project: string, watch: Watch) => boolean;
  readonly collect: (api: Api, project: ProjectToAsk, watch: Watch) => Promise<readonly Row[]>;
};

export type ExecutionsCollector = CommonParts & { readonly kind: 'executions' };

/** The collector of schedules, which the room `expected-runs` reads. The collector needs the counted executions. */
export type ExpectedRunsCollector = CommonParts & { readonly kind: 'expected-runs' };

/** The collector of changes, which the room `diagnosis` finds in the responses of all collectors. */
export type ChangesCollector = CommonParts & { readonly kind: 'changes' };

export function defineCollector<Answer, const Metrics extends Families>(
  definition: CollectorDefinition<Answer, Metrics>,
): ServerCollector {
  const { fetch, map, off: findOff, complaints: findComplaints, remember, news, ...data } = definition;
  return {
    vital: false,
    perMember: false,
    ...data,
    kind: 'server',
    collect: async (api, watch, before, now) => {
      const answer = await fetch(api, watch, before);
      const off = findOff?.(answer);
      if (off !== undefined) return { off };
      const nowMs = now();
      const memory = remember?.(answer, before, nowMs) ?? before;
      const complaints = findComplaints?.(answer, { memory, nowMs }) ?? [];
      return { rows: map(answer, data.metrics, { memory, watch }), memory, complaints, news: news?.(memory, before) };
    },
  };
}

export function defineProjectCollector<Answer, const Metrics extends Families>(
  definition: ProjectCollectorDefinition<Answer, Metrics>,
): ProjectCollector {
  const { fetch, fetchAll, map, covers = () => true, ...data } = definition;
  return {
    andServer: false,
    ...data,
    vital: false,
    perMember: false,
    kind: 'project',
    covers,
    collectAll: async (api, watch) => {
      const answers = await fetchAll?.(api, watch);
      if (answers === undefined) return undefined;
      return new Map([...answers].map(([project, answer]) => [project, map(answer, data.metrics, { project, watch })]));
    },
    collect: async (api, project, watch) =>
      map(await fetch(api, project, watch), data.metrics, { project: project.name, watch }),
  };
}

/** The configuration of the server for a collector, and data that all its collectors share. */
export type Watch = {
  readonly projects: {
    /** Returns the watched projects in the list of the server. Concurrent callers share one request. */
    readonly read: (api: Api) => Promise<readonly Project[]>;
    readonly labelsOf: (project: string) => readonly LabelPair[];
  };
  readonly jobs: {
    /** Reports whether the configuration includes a job. The path of a job is `{project}/{group}/{name}`. */
    readonly isWanted: (path: string) => boolean;
    /** The maximum number of jobs with their own durations. */
    readonly detail: number;
    /** True if average durations must be requested, because executions do not report them. */
    readonly asksForAverages?: boolean;
    /** Averages that executions have not updated for a long time; absent without executions. */
    readonly averages?: {
      readonly takeDue: (project: string) => readonly string[];
      readonly learn: (job: { project: string; group: string; name: string }, averageMs: number) => Promise<void>;
    };
  };
  readonly hasExecutionMetrics: (project: string) => boolean;
};
