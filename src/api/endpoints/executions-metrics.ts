import { z } from 'zod';
import { toDurationMs } from '../../domain/duration-text.ts';
import { defineEndpoint } from '../endpoint.ts';
import { number, section, text } from '../lenient.ts';

/** The number of executions, and their durations. */
export type ExecutionsMetrics = {
  readonly total: number | undefined;
  readonly averageMs: number | undefined;
  readonly minMs: number | undefined;
  readonly maxMs: number | undefined;
};

const body = z
  .object({ total: number, duration: section({ average: text, min: text, max: text }) })
  .transform(({ total, duration: { average, min, max } }): ExecutionsMetrics => {
    // Of no execution every duration is "0s".
    if (total === 0) return { total, averageMs: undefined, minMs: undefined, maxMs: undefined };
    return { total, averageMs: read(average), minMs: read(min), maxMs: read(max) };
  });

/** API reference, "Executions". Up to release 5 of the rundeck dialect every caller gets all projects. */
export const executionsMetrics = defineEndpoint({
  name: 'executions-metrics',
  path: 'executions/metrics',
  query: ['recentFilter'],
  since: 29,
  allowedBy: [{ type: 'resource', kind: 'event', allow: 'read' }],
  body,
});

export const projectExecutionsMetrics = defineEndpoint({
  ...executionsMetrics,
  name: 'project-executions-metrics',
  path: 'project/{project}/executions/metrics',
});

function read(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : toDurationMs(duration);
}
