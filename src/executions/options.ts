import type { Api, Client } from '../api/client.ts';
import type { Clock } from '../domain/clock.ts';
import type { Row } from '../metrics/family.ts';
import type { Ledger } from '../state/ledger.ts';
import type { reconcile } from './counting/reconcile.ts';
import type { ExecutionsObserver } from './ledger/count-executions.ts';
import type { planProjects } from './reading/plan-projects.ts';
import type { planReads } from './reading/plan-reads.ts';
import type { ExecutionSettings } from './settings.ts';
import type { CommitHook, TracePort } from './trace-port.ts';

/** Notified of events in rounds, for the daemon's own metrics. */
export type RoundObserver = ExecutionsObserver & {
  readonly lag: (seconds: number) => void;
  readonly epoch: (epoch: number) => void;
  readonly entries: (entries: number) => void;
};

export type ListedProjects = { readonly projects: readonly { readonly name: string }[]; readonly askedTicks: number };

export type ExecutionsOptions = {
  readonly server: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly requestsPerSecond: number;
  readonly client: Client;
  /** The watched projects: a list that others may have asked for a moment before. */
  readonly readProjects: (api: Api, sinceTicks?: number) => Promise<ListedProjects>;
  readonly ledger: Ledger;
  /** True if what the ledger knows is a copy of some time ago. */
  readonly isRestored?: boolean;
  readonly settings: ExecutionSettings;
  readonly commitHook?: CommitHook | undefined;
  /** Shared with the tracing of the same server; absent where nothing is traced. */
  readonly tracePort?: TracePort | undefined;
  readonly publish: (rows: readonly Row[], validForMs: number) => Promise<number>;
  readonly withdraw: () => void;
  readonly observe: RoundObserver;
  /** Logs a message for people, once. */
  readonly tell?: (message: string) => void;
  readonly clock: Clock;
  /** Functions that tests replace by wrong ones, to see that it shows. */
  readonly substitutes?: {
    readonly reconcile?: typeof reconcile;
    readonly planReads?: typeof planReads;
    readonly planProjects?: typeof planProjects;
  };
};
