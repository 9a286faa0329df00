import type { Api, Client } from '../api/client.ts';
import type { Clock } from '../domain/clock.ts';
import type { Row } from '../metrics/family.ts';
import type { CommitHook, Ledger } from '../state/ledger.ts';
import type { ExecutionsObserver } from './ledger/count-executions.ts';
import type { MemberStarts } from './reading/running-reader.ts';
import type { ExecutionSettings } from './settings.ts';
import type { TracePort } from './trace-port.ts';

/** Receives events of rounds for the exporter's own metrics. */
export type RoundObserver = ExecutionsObserver & {
  readonly lag: (seconds: number) => void;
  readonly epoch: (epoch: number) => void;
  readonly entries: (entries: number) => void;
};

type ListedProjects = { readonly projects: readonly { readonly name: string }[]; readonly askedTicks: number };

export type ExecutionsOptions = {
  readonly server: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly requestsPerSecond: number;
  readonly client: Client;
  /** Returns the watched projects. May return a list that another poll has read since `sinceTicks`. */
  readonly readProjects: (api: Api, sinceTicks?: number) => Promise<ListedProjects>;
  /** Returns the start times of the members of a cluster; absent if they are not known. */
  readonly memberStarts?: MemberStarts;
  readonly ledger: Ledger;
  readonly isRestored?: boolean;
  readonly settings: ExecutionSettings;
  readonly commitHook?: CommitHook | undefined;
  /** Shared with tracing of the same server; absent if the server is not traced. */
  readonly tracePort?: TracePort | undefined;
  readonly publish: (rows: readonly Row[], validForMs: number) => Promise<number>;
  /** Reports whether a limit has dropped a row from the last published series. */
  readonly omits: (row: Row) => boolean;
  readonly withdraw: () => void;
  readonly observe: RoundObserver;
  readonly tell?: (message: string) => void;
  readonly clock: Clock;
};
