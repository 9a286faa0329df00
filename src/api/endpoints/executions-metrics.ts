import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { number, section, text } from '../lenient.ts';

export type ExecutionsMetrics = {
  readonly total: number | undefined;
  readonly averageMs: number | undefined;
  readonly minMs: number | undefined;
  readonly maxMs: number | undefined;
};

const body = z
  .object({ total: number, duration: section({ average: text, min: text, max: text }) })
  .transform(({ total, duration: { average, min, max } }): ExecutionsMetrics => {
    // Without executions, every duration is "0s".
    if (total === 0) return { total, averageMs: undefined, minMs: undefined, maxMs: undefined };
    return { total, averageMs: read(average), minMs: read(min), maxMs: read(max) };
  });

/**
 * API reference, "Executions". Up to release 6.1 of the rundeck dialect, the response has all projects. Releases 3.0.x load all
 * executions of the span into memory to count them, and omit a total of 0. Releases 3.1 and 3.2 fail with MySQL and H2.
 */
export const executionsMetrics = defineEndpoint({
  name: 'executions-metrics',
  path: 'executions/metrics',
  query: ['recentFilter'],
  since: { service: 29, rundeck: 36 },
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

/** Reads a duration such as `37s`, `83m` or `1h 3m` in milliseconds; undefined for any other text. */
export function toDurationMs(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed.length > maxTextLength || !wholeText.test(trimmed)) return undefined;
  let sumMs = 0;
  for (const [, amount = '', unit = ''] of trimmed.matchAll(part)) sumMs += Number(amount) * (unitsMs[unit] ?? 0);
  return sumMs;
}

/** The maximum length of a duration as text. Patterns are slow for longer texts. */
const maxTextLength = 40;
const part = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g;
const wholeText = /^(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)[\s,]*)+$/;

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
