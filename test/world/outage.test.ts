import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allAlerts } from '../../alerts/generate.ts';
import { toRulesOf } from '../alerts/cases/rules-of.ts';
import { pickPart } from '../support/all.ts';
import { runPromtool } from '../support/promtool.ts';
import { describeWithTools } from '../support/tools.ts';
import { planWorld } from './plan.ts';
import { playWorld } from './play.ts';

const minuteMs = 60_000;
/** The first minute of the outage. The outage includes a full hour, at which all collectors are due. */
const fromMinute = 50;
const toMinute = 70;

const plan = {
  ...planWorld(1, []),
  projects: 12,
  lengthMs: 90 * minuteMs,
  // No execution ends, so alerts about executions stay silent.
  gapMs: 400 * 86_400_000,
  minMs: 20,
  tailShare: 0,
  date: 'own',
  members: 1,
  serverAheadMs: 0,
  drift: 0,
  scrapeMs: 30_000,
  executionsEveryMs: 15_000,
  requestsPerSecond: 10,
  traces: 'off',
  state: 'memory',
  isComplete: true,
} as const;

describeWithTools('world/outage', ['promtool'], ({ promtool }) => {
  it.each(pickPart(['refused', 'silent'] as const, 2))(
    'fires one alert while a server is %s for 20 minutes',
    async (way) => {
      const scrapes: string[] = [];
      let shown = '';
      const failing: string[] = [];
      const report = await playWorld(plan, {
        begin: ({ time, weather: { fronts }, truth }) => {
          const front = { way };
          time.after(fromMinute * minuteMs, () => {
            fronts.push(front);
            truth.troubles.push({ what: 'down', fromMs: time.nowMs(), toMs: time.nowMs() + 20 * minuteMs });
          });
          time.after(toMinute * minuteMs, () => void fronts.splice(fronts.indexOf(front), 1));
        },
        onScrape: (text) => {
          shown = text ?? '';
        },
        onLook: async (self) => {
          // Metrics about the configuration file are omitted.
          const own = (await self.registry.metrics()).replaceAll(/^automation_exporter_config.*\n/gm, '');
          scrapes.push(`${shown}${own}`);
          // The limit is a minute after a vital poll notices the recovery.
          if (scrapes.length * 0.5 <= toMinute + 2) return;
          failing.push(...own.split('\n').filter((line) => /^automation_exporter_collector_success.* 0$/.test(line)));
        },
      });

      expect(report.faults).toEqual([]);
      expect(failing).toEqual([]);
      expect(toInput(scrapes).length).toBeGreaterThan(300);
      expect(testRules(promtool, toInput(scrapes))).toContain('SUCCESS');
    },
    120_000,
  );
});

/** The series in the notation of promtool, with a value or a gap for each scrape. */
function toInput(scrapes: readonly string[]): { series: string; values: string }[] {
  const series = new Map<string, string[]>();
  for (const [index, text] of scrapes.entries()) {
    for (const line of text.split('\n')) {
      const space = line.lastIndexOf(' ');
      if (space < 0 || line.startsWith('#')) continue;
      const name = line.slice(0, space);
      const values = series.get(name) ?? Array.from({ length: scrapes.length }, () => '_');
      values[index] = line.slice(space + 1);
      series.set(name, values);
    }
  }
  return [...series].map(([name, values]) => ({ series: name, values: values.join(' ') }));
}

const down = [{ labels: '{alertname="AutomationServiceDown"}', value: 1 }];

/** Tests that only this alert fires during the outage. */
function testRules(promtool: string, input: readonly { series: string; values: string }[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-outage-'));
  try {
    const rules = toRulesOf(allAlerts().map(({ alert }) => alert));
    writeFileSync(join(dir, 'rules.json'), rules);
    const asked = new Set(rules.match(/automation_[a-z_]+/g));
    const shown = input.filter(({ series }) => asked.has(series.split('{', 1)[0] ?? ''));
    const up = { series: 'up{job="automation-exporter",instance="localhost:9720"}', values: '1x300' };
    const minutes = Array.from({ length: 89 }, (_, minute) => minute);
    const checks = minutes
      .filter(
        (minute) => (minute < fromMinute || minute > fromMinute + 3) && minute !== toMinute && minute !== toMinute + 1,
      )
      .map((minute) => ({
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minute}m`,
        exp_samples: minute > fromMinute && minute < toMinute ? down : [],
      }));
    const test = { interval: '30s', input_series: [up, ...shown], promql_expr_test: checks };
    const file = { rule_files: ['rules.json'], evaluation_interval: '30s', tests: [test] };
    writeFileSync(join(dir, 'outage.json'), JSON.stringify(file));
    return runPromtool(promtool, ['test', 'rules', 'outage.json'], dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
