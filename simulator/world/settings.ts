import * as z from 'zod';
import type { Release } from '../release.ts';

/** Settings of the server's configuration, and faults in it. */
export const settingsSchema = z.strictObject({
  logStorageFailing: z.boolean(),
  /** The plugin of the log storage. Without a plugin, logs are not stored elsewhere, and nothing is counted. */
  logStoragePlugin: z.string().or(z.undefined()),
  unhealthyCheck: z.string().or(z.undefined()),
  metricsOn: z.boolean(),
  metricsDisabled: z.set(z.string()),
  brokenGauges: z.array(z.string()).readonly(),
  /** True if requests change the request timers. Answers of a frozen server never change. */
  countRequests: z.boolean(),
  commercial: z.boolean(),
  userClasses: z.record(z.string(), z.string()).readonly(),
  countMissing: z.boolean(),
  /** How long after their end executions become visible. */
  saveDelayMs: z.number(),
  unfinishedFirst: z.boolean(),
  /** True if lists contain unfinished executions even if a date is given. */
  unfinishedDated: z.boolean(),
  /** The executions whose step states are `pending`. */
  statePending: z.set(z.number()).or(z.literal('all')),
  /** The state of logs: readable, not loaded yet, or lost. */
  logs: z.enum(['ready', 'pending', 'missing']),
  /** A number that is added to every total of the executions list, down to 0, because real totals may be wrong too. */
  totalOffset: z.number(),
  /** The limit of a gateway for the rows of a list. */
  maxRows: z.number(),
  /** The number of runs that finish after every answered page of executions. */
  shiftPages: z.number(),
  apiForSessions: z.boolean(),
  /** What releases from 6.0 on show about themselves to everybody. */
  monitoring: z.boolean(),
  publicUrl: z.string().or(z.undefined()),
  storageDelayMs: z.number(),
  /** How long after its visible end a run changes the average of its job. */
  averageDelayMs: z.number(),
  loadAverage: z.number(),
  /** The versions of installed plugins by their names. */
  plugins: z.record(z.string(), z.string()),
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
    monitoring: release.metrics === 'controller',
    publicUrl: undefined,
    storageDelayMs: 1500,
    averageDelayMs: 0,
    loadAverage: 0.42,
    plugins: { notifier: '1.2.0' },
  };
}
