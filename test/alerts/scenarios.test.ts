import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { allAlerts } from '../../alerts/generate.ts';
import { scenarios } from '../../simulator/scenarios/scenario.ts';
import { isAll, pickPart } from '../support/all.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { runPromtool } from '../support/promtool.ts';
import { describeWithTools } from '../support/tools.ts';
import { playScenario, type Scrapes, scrapeSeconds } from './cases/play-scenario.ts';
import { groupOrder, toRulesOf } from './cases/rules-of.ts';

/** The minutes until all alerts of a scenario have fired; `--all` plays `usualMinutes`. */
const minutesOf: Readonly<Record<string, number>> = {
  'passive-window': 26,
  'log-storage-outage': 20,
  'thousand-projects': 15,
  empty: 15,
  ...(isAll
    ? {}
    : {
        'failing-night': 25,
        'stuck-queue': 28,
        'node-down': 25,
        'missed-night': 30,
        overlap: 44,
        'tight-pool': 33,
        'orphaned-schedule': 40,
        'retry-storm': 26,
      }),
};
// After an hour, AutomationRunsAtRisk would fire too.
const usualMinutes = 55;

const exporter = 'job="automation-exporter",instance="exporter:9720"';

describeWithTools('alerts, in the scenarios of the demo', ['promtool'], ({ promtool }) => {
  const rules = toRulesOf(allAlerts().map(({ alert }) => alert));
  const asked = new Set(rules.match(/automation_[a-z_]+/g));
  const directory = makeSharedFolder();

  beforeAll(() => {
    writeFileSync(join(directory, 'rules.json'), rules);
  });

  // Each push plays a part of the scenarios.
  it.each(pickPart(scenarios, 3))(
    'fires exactly the alerts that $name declares',
    async ({ name, alerts }) => {
      const minutes = minutesOf[name] ?? usualMinutes;
      const series = toSeries(await playScenario(name, minutes), asked);
      writeFileSync(join(directory, `${name}.json`), JSON.stringify(toTest(series, minutes, alerts)));
      const output = runPromtool(promtool, ['test', 'rules', `${name}.json`], directory);
      expect(output.replace(/^Unit Testing: .*\n {2}SUCCESS\n+/gm, '')).toBe('');
    },
    300_000,
  );
});

/** The series that rules need, in the notation of promtool. */
function toSeries(scrapes: Scrapes, asked: ReadonlySet<string>): object[] {
  const length = Math.max(...[...scrapes.values()].map((values) => values.length));
  const shown = [...scrapes].filter(([series]) => asked.has(series.split('{', 1)[0] ?? ''));
  const toSample = (values: readonly (string | undefined)[], index: number): string =>
    values[index] ?? (values[index - 1] === undefined ? '_' : 'stale');
  return [
    { series: `up{${exporter}}`, values: `1x${length}` },
    ...shown.map(([series, values]) => ({
      series: series.includes('{') ? series.replace('{', `{${exporter},`) : `${series}{${exporter}}`,
      values: Array.from({ length }, (_, index) => toSample(values, index)).join(' '),
    })),
  ];
}

/** Returns a promtool test, which expects that exactly these alerts have fired by the end. */
function toTest(series: readonly object[], minutes: number, alerts: readonly string[]): object {
  const toLabels = (alert: string): string => {
    const [, name = '', reason] = /^(\w+)(?: \((\w+)\))?$/.exec(alert) ?? [];
    return `{alertname="${name}"${reason === undefined ? '' : `, reason="${reason}"`}}`;
  };
  return {
    rule_files: ['rules.json'],
    // The rules read every other scrape, to halve the time of the test.
    evaluation_interval: `${2 * scrapeSeconds}s`,
    group_eval_order: groupOrder,
    tests: [
      {
        interval: `${scrapeSeconds}s`,
        input_series: series,
        promql_expr_test: [
          {
            expr: `group by (alertname, reason) (max_over_time(ALERTS{alertstate="firing"}[${minutes}m]))`,
            eval_time: `${minutes}m`,
            exp_samples: alerts.map((alert) => ({ labels: toLabels(alert), value: 1 })),
          },
        ],
      },
    ],
  };
}
