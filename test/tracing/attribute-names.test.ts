import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { actionRun, conventional, own, results, schemaUrl } from '../../src/tracing/plan/attribute-names.ts';
import { planRecorded } from './recorded.ts';

const known = new Set<unknown>(Object.values(conventions));

describe('tracing/attribute-names', () => {
  it.each([
    ['service.name', true],
    ['service.version', true],
    ['telemetry.distro.name', true],
    ['telemetry.distro.version', true],
    ['user.name', true],
    ['error.type', true],
    ['process.exit.code', true],
    ['cicd.pipeline.name', true],
    ['cicd.pipeline.action.name', true],
    ['cicd.pipeline.result', true],
    ['cicd.pipeline.run.id', true],
    ['cicd.pipeline.run.url.full', true],
    ['cicd.pipeline.task.name', true],
    ['cicd.pipeline.task.run.id', true],
    ['cicd.pipeline.task.run.result', true],
    ['cicd.pipeline.task.run.url.full', true],
    ['cicd.worker.id', true],
    ['cicd.worker.name', true],
    ['automation.server.name', false],
    ['automation.project.name', false],
    ['automation.job.id', false],
    ['automation.job.group', false],
    ['automation.job.name', false],
    ['automation.job.average_duration', false],
    ['automation.execution.adhoc', false],
    ['automation.execution.trigger', false],
    ['automation.execution.argstring', false],
    ['automation.execution.aborted_by', false],
    ['automation.execution.retry.attempt', false],
    ['automation.execution.will_retry', false],
    ['automation.execution.custom_status', false],
    ['automation.failure.class', false],
    ['automation.failure.fingerprint', false],
    ['automation.failure.first_seen', false],
    ['automation.failure.suspects', false],
    ['automation.change.kind', false],
    ['automation.change.subject', false],
    ['automation.change.what', false],
    ['automation.change.after', false],
    ['automation.change.before', false],
    ['log.record.uid', true],
    ['service.namespace', true],
    ['automation.execution.node.failed_count', false],
    ['automation.execution.node.succeeded_count', false],
    ['automation.schedule.delay', false],
    ['automation.node.name', false],
    ['automation.step.node_outcome', false],
    ['automation.step.handler', false],
    ['automation.step.not_started_count', false],
    ['automation.rest.count', false],
    ['automation.rest.failed_count', false],
    ['automation.rest.span_count', false],
    ['automation.link', false],
    ['automation.span.clamped', false],
    ['automation.span.truncated', false],
    ['automation.span.end_inferred', false],
    ['automation.trace.degraded', false],
  ])('uses the attribute %s of the conventions: %s', (name, isKnown) => {
    expect([...Object.values(conventional), ...Object.values(own)]).toContain(name);
    expect(known.has(name)).toBe(isKnown);
  });

  it('uses the installed version of the conventions', () => {
    const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
    const [, version] = /"@opentelemetry\/semantic-conventions": "([^"]*)"/.exec(text) ?? [];
    expect(schemaUrl).toBe(`https://opentelemetry.io/schemas/${version}`);
  });

  it('uses only known attribute names', () => {
    expect(Object.keys(conventional).length + Object.keys(own).length).toBe(57);
  });

  it('uses the values of the conventions', () => {
    expect(actionRun).toBe('RUN');
    expect(Object.values(results)).toEqual(['success', 'failure', 'error', 'timeout', 'cancellation', 'skip']);
  });

  it('uses only listed attribute names in traces', () => {
    const names = new Set<string>([...Object.values(conventional), ...Object.values(own)]);
    for (const recorded of ['per-node-reference', 'delayed-retry', 'stale-running', 'hostile-names', 'aborted']) {
      const { spans, resource } = planRecorded(recorded, { withUserNames: true, withArgstring: true }).trace;
      for (const attributes of [resource, ...spans.map((span) => span.attributes)]) {
        expect(Object.keys(attributes).filter((name) => !names.has(name))).toEqual([]);
      }
    }
  });
});
