import type { Config, ServerConfig } from '../config/config.ts';
import type { ChangesSettings } from '../diagnosis/changes/changes.ts';
import { planRoom } from '../executions/series/series-plan.ts';
import { defaultBuckets, type ExecutionSettings } from '../executions/settings.ts';
import { defaultDelayBuckets, type ExpectedRunsSettings } from '../expected-runs/settings.ts';
import { executionLimits, type Limits, scheduleLimits, serverLimits } from '../status/limits.ts';
import type { TraceFormat } from '../tracing/plan/estimate.ts';
import { type TraceSettings, traceDefaults } from '../tracing/plan/settings.ts';

export function toExecutionSettings(server: ServerConfig, config: Config): ExecutionSettings {
  const { jobs, executions, diagnosis, metrics, collectors: settingsOf } = config;
  const { overdueFactor, countFrom, ...settings } = executions;
  return {
    ...settings,
    countFromMs: countFrom,
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
    ownerOf: (path) => jobs.aboutOf(path).owner,
  };
}

/** Returns how many jobs may have their own series, for the given number of projects, and the option that limits them. */
export function toJobRoom(settings: ExecutionSettings, projects: number): { jobs: number; limitedBy: string } {
  const { jobs } = planRoom(settings, { projects, projectHistograms: 0 });
  return { jobs, limitedBy: jobs >= settings.cap ? 'jobs.cap' : 'collectors.executions.max_series' };
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

/** Reports whether log lines are kept for any project. */
export function keepsLines({ enabled, logs, overrides }: Config['diagnosis']): boolean {
  return enabled && [logs, ...overrides.map((one) => one.logs)].includes('lines');
}

/** Reports whether traces are sent; log records need them. */
export function sendsTraces(
  { enabled }: Config['traces'],
  otlp: { readonly isConfigured: boolean } | undefined,
): boolean {
  return enabled === 'on' || (enabled === 'auto' && otlp?.isConfigured === true);
}

export function sendsLogs(diagnosis: Config['diagnosis']): boolean {
  return diagnosis.events || keepsLines(diagnosis);
}

/** Returns the maximum number of jobs with their own durations. */
export function toDetail({ detail, top, cap }: Config['jobs']): number {
  const most = { all: cap, top, none: 0 } as const;
  return Math.min(most[detail], cap);
}

/** Facts about the exporter, and about the server after the first contact. */
type About = {
  /**
   * How many times the execution ids of the server have started, including the first time. From 2 on, the number is part of the
   * namespace.
   */
  readonly epoch: number;
  readonly release: string | undefined;
  readonly version: string;
  readonly format: TraceFormat;
};

/** Returns the settings for the traces of a server. The daemon and `replay` must use the same settings. */
export function toTraceSettings(server: ServerConfig, traces: Config['traces'], about: About): TraceSettings {
  const { namespace, name } = server;
  const { epoch, release, version, format } = about;
  return {
    ...traceDefaults,
    namespace: epoch > 1 ? `${namespace}#${epoch}` : namespace,
    server: name,
    service: traces.serviceName,
    release,
    distro: { name: 'automation-exporter', version },
    detail: traces.detail,
    joining: traces.upstream,
    customStatuses: traces.statusMap,
    options: traces.optionsAllow,
    withUserNames: traces.userNames,
    withArgstring: traces.argstring,
    maxSpans: traces.maxSpans,
    format,
  };
}

/** Replaces the default limits by configured thresholds. */
export function toLimits({ thresholds }: Config['alerts']): Limits {
  const { consecutiveFailures, durationFactor, nodeFailures, nodeFailureRatio, executionsObjective } = thresholds;
  const { punctualityObjective, memoryUsedRatio, schedulerUsedRatio } = thresholds;
  return {
    execution: {
      ...executionLimits,
      consecutiveFailures,
      durationFactor,
      nodeFailures,
      nodeFailureRatio,
      objective: executionsObjective,
    },
    schedule: { ...scheduleLimits, objective: punctualityObjective },
    server: { ...serverLimits, memoryUsedRatio, schedulerUsedRatio },
  };
}
