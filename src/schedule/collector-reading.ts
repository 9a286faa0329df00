import type { ProjectCollector, ServerCollector } from '../collectors/collector.ts';
import { createProjectSweep } from './project-sweep.ts';
import type { Reading, ReadingOptions } from './reading.ts';
import { createServerReading } from './server-reading.ts';

/** Creates the reading of a collector: as a whole, or project by project. */
export function createCollectorReading(
  collector: ServerCollector | ProjectCollector,
  options: ReadingOptions,
): Reading {
  return collector.kind === 'project'
    ? createProjectSweep({ ...options, collector })
    : createServerReading({ ...options, collector });
}
