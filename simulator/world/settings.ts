import * as z from 'zod';
import type { Release } from '../release.ts';

/** Switches of the server's own configuration, and faults inside it. */
export const settingsSchema = z.strictObject({
  logStorageFailing: z.boolean(),
  /** Without a plugin logs stay where they are, and nothing is counted. */
  logStoragePlugin: z.string().or(z.undefined()),
  unhealthyCheck: z.string().or(z.undefined()),
  metricsOn: z.boolean(),
  metricsDisabled: z.set(z.string()),
  /** Gauges whose reading throws. */
  brokenGauges: z.array(z.string()).readonly(),
  /** True if requests move the request timers; a frozen service answers the same however often it is asked. */
  countRequests: z.boolean(),
  commercial: z.boolean(),
  /** Which class a user of the commercial edition has. */
  userClasses: z.record(z.string(), z.string()).readonly(),
  countMissing: z.boolean(),
  /** Ends become visible this long after they happened. */
  saveDelayMs: z.number(),
  unfinishedFirst: z.boolean(),
  /** Lists unfinished executions even where a date is asked for. */
  unfinishedDated: z.boolean(),
  /** Step states of these executions answer `pending`. */
  statePending: z.set(z.number()).or(z.literal('all')),
  /** The state of logs: they can be read, are not here yet, or are lost. */
  logs: z.enum(['ready', 'pending', 'missing']),
  /** Added to every total of the executions list, down to 0: real totals lie too. */
  totalOffset: z.number(),
  /** A gateway lets no list have more rows than this. */
  maxRows: z.number(),
  /** This many runs finish after every answered page of executions. */
  shiftPages: z.number(),
  apiForSessions: z.boolean(),
  publicUrl: z.string().or(z.undefined()),
  storageDelayMs: z.number(),
  loadAverage: z.number(),
});

export type Settings = z.infer<typeof settingsSchema>;

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
    maxRows: Number.POSITIVE_INFINITY,
    shiftPages: 0,
    apiForSessions: true,
    publicUrl: undefined,
    storageDelayMs: 1500,
    loadAverage: 0.42,
  };
}
