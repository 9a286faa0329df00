import type { Config, ServerConfig } from '../config/config.ts';
import type { ChangesSettings } from '../diagnosis/changes/changes.ts';
import { defaultBuckets, type ExecutionSettings } from '../executions/settings.ts';
import { defaultDelayBuckets, type ExpectedRunsSettings } from '../expected-runs/settings.ts';

export function toExecutionSettings(server: ServerConfig, config: Config): ExecutionSettings {
  const { jobs, executions, diagnosis, metrics, collectors: settingsOf } = config;
  const { overdueFactor, ...settings } = executions;
  return {
    ...settings,
    overdueFactorOf: (path) => jobs.overdueFactorOf(path) ?? overdueFactor,
    holdNewSeriesMs: metrics.holdNewSeriesMs,
    buckets: metrics.families.get('automation_execution_duration_seconds')?.buckets ?? defaultBuckets,
    detail: toDetail(jobs),
    cap: jobs.cap,
    maxSeries: settingsOf['executions']?.maxSeries ?? 0,
    families: metrics.families,
    cicd: metrics.cicd,
    classes: diagnosis.enabled,
    isWantedProject: server.projects.isWanted,
    isWantedJob: jobs.isWanted,
    successAgeMsOf: jobs.successAgeMsOf,
  };
}

export function toExpectedRunsSettings(server: ServerConfig, config: Config): ExpectedRunsSettings {
  const { jobs, executions, metrics, schedule } = config;
  return {
    marginMs: schedule.marginMs,
    catchUpLimitMs: executions.catchUpLimitMs,
    holdNewSeriesMs: metrics.holdNewSeriesMs,
    buckets: metrics.families.get('automation_schedule_delay_seconds')?.buckets ?? defaultDelayBuckets,
    maxJobs: jobs.cap,
    isWantedProject: server.projects.isWanted,
    isWantedJob: jobs.isWanted,
    isCriticalJob: jobs.isCritical,
  };
}

export function toChangesSettings(server: ServerConfig, { jobs, metrics, traces }: Config): ChangesSettings {
  return {
    holdNewSeriesMs: metrics.holdNewSeriesMs,
    namesUsers: traces.userNames,
    isWantedProject: server.projects.isWanted,
    isWantedJob: jobs.isWanted,
  };
}

/** Reports whether lines of logs are kept for any project. */
export function keepsLines({ enabled, logs, overrides }: Config['diagnosis']): boolean {
  return enabled && [logs, ...overrides.map((one) => one.logs)].includes('lines');
}

/** Computes how many jobs get their own series. */
export function toDetail({ detail, top, cap }: Config['jobs']): number {
  const most = { all: cap, top, none: 0 } as const;
  return Math.min(most[detail], cap);
}
