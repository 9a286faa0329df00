import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpanSource } from '../../src/domain/span-source.ts';
import { readRecording } from '../../src/tracing/enrich/replay.ts';
import { planTrace } from '../../src/tracing/plan/plan-trace.ts';
import { type TraceSettings, traceDefaults } from '../../src/tracing/plan/settings.ts';

export const settings: TraceSettings = {
  ...traceDefaults,
  namespace: 'https://automation.example.org',
  server: 'main',
  release: '5.3.0',
  distro: { name: 'automation-exporter', version: '0.1.0' },
};

/** Reads an execution as a server reported it, from `recorded/{name}.json`. */
export function readRecorded(name: string): SpanSource {
  return readRecording(readFileSync(join(import.meta.dirname, 'recorded', `${name}.json`), 'utf8'));
}

export function planRecorded(name: string, changes: Partial<TraceSettings> = {}) {
  return planSource(readRecorded(name), changes);
}

export function planSource(source: SpanSource, changes: Partial<TraceSettings> = {}) {
  const plan = planTrace(source, { ...settings, ...changes });
  if (plan === undefined) throw new Error('It has no trace.');
  return plan;
}
