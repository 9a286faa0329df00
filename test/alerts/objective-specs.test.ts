import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { readPromql } from '../dashboards/promql.ts';

const folder = join(import.meta.dirname, '..', '..', 'alerts', 'objectives');
const name = z.string().regex(/^[A-Za-z0-9][-A-Za-z0-9_.]*[A-Za-z0-9]$/);
const labels = z.record(z.string(), z.string());
const alert = z.strictObject({
  disable: z.boolean().optional(),
  labels: labels.optional(),
  annotations: labels.optional(),
});

/** The fields of Sloth's `prometheus/v1`, as its API documentation lists them. */
const slothSpec = z.strictObject({
  version: z.literal('prometheus/v1'),
  service: name,
  labels: labels.optional(),
  slos: z
    .array(
      z.strictObject({
        name,
        description: z.string().optional(),
        objective: z.number().gt(0).max(100),
        labels: labels.optional(),
        sli: z.strictObject({ events: z.strictObject({ error_query: z.string(), total_query: z.string() }) }),
        alerting: z.strictObject({
          name: z.string().min(1),
          labels: labels.optional(),
          annotations: labels.optional(),
          page_alert: alert.optional(),
          ticket_alert: alert.optional(),
        }),
      }),
    )
    .min(1),
});

const metric = z.strictObject({ metric: z.string() });
const grouping = z.array(z.string()).optional();

/** The fields of Pyrra's `pyrra.dev/v1alpha1`, as its resource definition lists them. */
const pyrraSpec = z.strictObject({
  apiVersion: z.literal('pyrra.dev/v1alpha1'),
  kind: z.literal('ServiceLevelObjective'),
  metadata: z.strictObject({ name: z.string().regex(/^[a-z0-9][-a-z0-9.]{0,61}[a-z0-9]$/), labels: labels.optional() }),
  spec: z.strictObject({
    target: z.string().regex(/^\d{1,2}(\.\d+)?$/),
    window: z.string().regex(/^\d+[wdhm]$/),
    description: z.string().optional(),
    alerting: z.strictObject({ name: z.string().optional(), disabled: z.boolean().optional() }).optional(),
    indicator: z.union([
      z.strictObject({ ratio: z.strictObject({ errors: metric, total: metric, grouping }) }),
      z.strictObject({ latency: z.strictObject({ success: metric, total: metric, grouping }) }),
    ]),
  }),
});

describe('alerts/objective-specs', () => {
  it('writes objectives that are valid for Sloth, with queries for any window', () => {
    const { slos } = slothSpec.parse(parse(readFileSync(join(folder, 'sloth.yaml'), 'utf8')));
    expect(new Set(slos.map((slo) => slo.name)).size).toBe(slos.length);
    for (const { error_query: errors, total_query: total } of slos.map(({ sli }) => sli.events)) {
      for (const query of [errors, total]) {
        expect(query).toContain('[{{.window}}]');
        expect(readPromql(query.replaceAll('{{.window}}', '5m'))).toMatchObject({ valid: true });
      }
    }
  });

  it('names the delay bucket of the objective for Pyrra', () => {
    const [latency] = parseAllDocuments(readFileSync(join(folder, 'pyrra.yaml'), 'utf8'))
      .map((document) => pyrraSpec.parse(document.toJS()).spec.indicator)
      .flatMap((indicator) => ('latency' in indicator ? [indicator.latency] : []));
    expect(latency).toEqual({
      success: { metric: 'automation_schedule_delay_seconds_bucket{le="300.0"}' },
      total: { metric: 'automation_schedule_delay_seconds_count' },
      grouping: ['cluster', 'server'],
    });
  });

  it('writes objectives that are valid for Pyrra', () => {
    const documents = parseAllDocuments(readFileSync(join(folder, 'pyrra.yaml'), 'utf8'));
    expect(documents.length).toBeGreaterThan(1);
    for (const document of documents) {
      const { indicator } = pyrraSpec.parse(document.toJS()).spec;
      if (!('ratio' in indicator)) continue;
      const { ratio } = indicator;
      const [errors, total] = [ratio.errors.metric, ratio.total.metric].map((metric) => readPromql(metric));
      expect(errors).toMatchObject({ valid: true });
      expect(errors?.metrics).toEqual(total?.metrics);
      expect(ratio.errors.metric).not.toBe(ratio.total.metric);
    }
  });
});
