import type { Collector } from './collector.ts';
import { executionModeCollector } from './execution-mode.ts';
import { healthcheckCollector } from './healthcheck.ts';
import { logStorageCollector } from './log-storage.ts';
import { systemInfoCollector } from './system-info.ts';

/** Every polled thing, in the order of the documentation. */
export const collectors: readonly Collector[] = [
  systemInfoCollector,
  executionModeCollector,
  healthcheckCollector,
  logStorageCollector,
];
