import type { WebConfig } from '../domain/web-config.ts';
import type { FixedSettings, Settings } from './declare/option.ts';
import type { defineCollectorOptions, familyOptions, generalOptions, serverOptions } from './declare/options.ts';
import type { TlsTexts } from './read/server-rules.ts';
import type { LabelPair } from './values/labels.ts';

/** The configuration as read and checked. */
export type Config = Omit<Settings<typeof generalOptions>, 'jobs' | 'metrics'> & {
  readonly servers: readonly ServerConfig[];
  readonly collectors: Readonly<Record<string, CollectorConfig>>;
  readonly jobs: JobsConfig;
  readonly metrics: MetricsConfig;
  /** Undefined without a file: everyone may send requests, without TLS. */
  readonly webConfig: WebConfig | undefined;
};

/** The settings that a reload does not change, for parts that are built once, such as the HTTP server. */
export type FixedConfig = {
  readonly web: FixedSettings<typeof generalOptions.web>;
  readonly log: FixedSettings<typeof generalOptions.log>;
  readonly state: FixedSettings<typeof generalOptions.state>;
};

export type MetricsConfig = Settings<typeof generalOptions.metrics> & {
  readonly families: ReadonlyMap<string, FamilyConfig>;
};

export type ServerConfig = Omit<Settings<typeof serverOptions>, 'namespace' | 'projects'> & {
  readonly namespace: string;
  readonly projects: ProjectsConfig;
  /** The contents of the files of `tls` when the configuration was read. */
  readonly tlsTexts: TlsTexts;
};

export type ProjectsConfig = Settings<typeof serverOptions.projects> & {
  readonly isWanted: (project: string) => boolean;
  readonly labelsOf: (project: string) => readonly LabelPair[];
};

export type JobsConfig = Settings<typeof generalOptions.jobs> & {
  /** The path is `{project}/{group}/{name}`. */
  readonly isWanted: (path: string) => boolean;
  /** The highest allowed age of the last success of a job; undefined if not configured. */
  readonly successAgeMsOf: (path: string) => number | undefined;
  /** The multiple of its average duration that a run of the job may take; undefined if not configured. */
  readonly overdueFactorOf: (path: string) => number | undefined;
  readonly isCritical: (path: string) => boolean;
};

export type CollectorConfig = Settings<ReturnType<typeof defineCollectorOptions>>;

export type FamilyConfig = Settings<typeof familyOptions>;
