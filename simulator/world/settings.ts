import type { Release } from '../release.ts';

/** Switches of the server's own configuration, and faults inside it. */
export type Settings = {
  logStorageFailing: boolean;
  /** Without a plugin logs stay where they are, and nothing is counted. */
  logStoragePlugin: string | undefined;
  unhealthyCheck: string | undefined;
  metricsOn: boolean;
  metricsDisabled: Set<string>;
  /** Gauges whose reading throws. */
  brokenGauges: readonly string[];
  /** True if requests move the request timers; a frozen service answers the same however often it is asked. */
  countRequests: boolean;
  commercial: boolean;
  /** Which class a user of the commercial edition has. */
  userClasses: Readonly<Record<string, string>>;
  countMissing: boolean;
  /** Ends become visible this long after they happened. */
  saveDelayMs: number;
  unfinishedFirst: boolean;
  /** Lists unfinished executions even where a date is asked for. */
  unfinishedDated: boolean;
  /** Step states of these executions answer `pending`. */
  statePending: Set<number> | 'all';
  /** The state of logs: they can be read, are not here yet, or are lost. */
  logs: 'ready' | 'pending' | 'missing';
  /** Added to every total of the executions list, down to 0: real totals lie too. */
  totalOffset: number;
  /** A gateway lets no list have more rows than this. */
  mostRows: number;
  /** This many runs finish after every answered page of executions. */
  shiftPages: number;
  apiForSessions: boolean;
  publicUrl: string | undefined;
  storageDelayMs: number;
  loadAverage: number;
};

export function createSettings(release: Release): Settings {
  return {
    logStorageFailing: false,
    logStoragePlugin: 'object-store',
    unhealthyCheck: undefined,
    metricsOn: release.metricsOn,
    metricsDisabled: new Set(),
    brokenGauges: [],
    countRequests: true,
    commercial: false,
    userClasses: { amira: 'full', exporter: 'full', jonas: 'viewer' },
    countMissing: false,
    saveDelayMs: 0,
    unfinishedFirst: true,
    unfinishedDated: false,
    statePending: new Set(),
    logs: 'ready',
    totalOffset: 0,
    mostRows: Number.POSITIVE_INFINITY,
    shiftPages: 0,
    apiForSessions: true,
    publicUrl: undefined,
    storageDelayMs: 1500,
    loadAverage: 0.42,
  };
}
