import type { Settings } from './option.ts';
import type { defineCollectorOptions, generalOptions, serverOptions } from './options.ts';

/** Everything the daemon was told, read once and checked once. */
export type Config = Settings<typeof generalOptions> & {
  readonly servers: readonly ServerConfig[];
  readonly collectors: Readonly<Record<string, CollectorConfig>>;
};

export type ServerConfig = Settings<typeof serverOptions>;

export type CollectorConfig = Settings<ReturnType<typeof defineCollectorOptions>>;
