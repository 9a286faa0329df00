import type { Secret } from '../domain/secret.ts';
import type { WebConfig } from '../domain/web-config.ts';
import type { CamelCase, Settings } from './declare/option.ts';
import type { defineCollectorOptions, familyOptions, fixedPaths, generalOptions } from './declare/options.ts';
import type { serverOptions } from './declare/server-options.ts';
import type { JobOverrides } from './patterns/pattern.ts';
import type { LabelPair } from './values/maps.ts';

export type Config = Omit<Settings<typeof generalOptions>, 'jobs' | 'metrics'> & {
  readonly servers: readonly ServerConfig[];
  readonly collectors: Readonly<Record<string, CollectorConfig>>;
  readonly jobs: JobsConfig;
  readonly metrics: MetricsConfig;
  /** The web configuration; undefined without a file: then everyone may send requests, over plain HTTP. */
  readonly webConfig: WebConfig | undefined;
};

/** The settings that a reload does not change. */
export type FixedConfig = {
  readonly web: Pick<Config['web'], FixedName<'web'>>;
  readonly log: Pick<Config['log'], FixedName<'log'>>;
  readonly state: Omit<Config['state'], 'postgres'>;
};

type FixedName<S extends string, P = (typeof fixedPaths)[number]> = P extends `${S}.${infer K}` ? CamelCase<K> : never;

type MetricsConfig = Settings<typeof generalOptions.metrics> & { readonly families: ReadonlyMap<string, FamilyConfig> };

export type ServerConfig = Omit<Settings<typeof serverOptions>, 'namespace' | 'projects'> & {
  readonly namespace: string;
  readonly projects: ProjectsConfig;
  /** The contents of the files of `tls` when the configuration was read. */
  readonly tlsTexts: TlsTexts;
};

export type TlsTexts = { readonly ca?: string; readonly cert?: string; readonly key?: Secret };

type ProjectsConfig = Settings<typeof serverOptions.projects> & {
  readonly isWanted: (project: string) => boolean;
  readonly labelsOf: (project: string) => readonly LabelPair[];
};

type JobsConfig = Settings<typeof generalOptions.jobs> &
  JobOverrides & {
    /** Reports whether a job is watched, by its path `{project}/{group}/{name}`. */
    readonly isWanted: (path: string) => boolean;
  };

export type CollectorConfig = Settings<ReturnType<typeof defineCollectorOptions>>;

export type FamilyConfig = Settings<typeof familyOptions>;
