import type { LabelPair } from './labels.ts';
import type { Settings } from './option.ts';
import type { defineCollectorOptions, familyOptions, generalOptions, serverOptions } from './options.ts';

/** Everything the daemon was told, read once and checked once. */
export type Config = Omit<Settings<typeof generalOptions>, 'jobs'> & {
  readonly servers: readonly ServerConfig[];
  readonly collectors: Readonly<Record<string, CollectorConfig>>;
  readonly jobs: JobsConfig;
  /** What is said of metric families, by name; most are not named. */
  readonly metrics: ReadonlyMap<string, FamilyConfig>;
};

export type ServerConfig = Omit<Settings<typeof serverOptions>, 'projects'> & { readonly projects: ProjectsConfig };

export type ProjectsConfig = Settings<typeof serverOptions.projects> & {
  readonly isWanted: (project: string) => boolean;
  readonly labelsOf: (project: string) => readonly LabelPair[];
};

export type JobsConfig = Settings<typeof generalOptions.jobs> & {
  /** Of a path as `{project}/{group}/{name}`. */
  readonly isWanted: (path: string) => boolean;
};

export type CollectorConfig = Settings<ReturnType<typeof defineCollectorOptions>>;

export type FamilyConfig = Settings<typeof familyOptions>;
