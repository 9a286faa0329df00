import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allAlerts } from '../../alerts/generate.ts';
import { pickPart } from '../support/all.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { runPromtool } from '../support/promtool.ts';
import { describeWithTools } from '../support/tools.ts';
import { executionCases } from './cases/executions.ts';
import { exporterCases } from './cases/exporter.ts';
import { isExposed, toInterval, toPromtoolTest, weathers } from './cases/promtool-file.ts';
import { replicaCases } from './cases/replicas.ts';
import { groupOrder, toRulesOf } from './cases/rules-of.ts';
import { scheduleCases } from './cases/schedule.ts';
import { serviceCases } from './cases/service.ts';

const cases = [...serviceCases, ...executionCases, ...scheduleCases, ...exporterCases, ...replicaCases];

/**
 * The alerts are divided into this number of parts, and each push plays one part. Texts are checked only in the weather `fair`.
 */
const parts: Readonly<Record<string, number>> = { fair: 1, below: 2 };

describe('alerts/weathers', () => {
  it('has a case for every alert', () => {
    expect(cases.map(({ alert }) => alert).toSorted()).toEqual(
      allAlerts()
        .map(({ alert }) => alert)
        .toSorted(),
    );
  });
});

describeWithTools('alerts/weathers', ['promtool'], ({ promtool }) => {
  const directory = makeSharedFolder();

  beforeAll(() => {
    for (const { alert } of cases) writeFileSync(join(directory, `${alert}.rules.json`), toRulesOf([alert]));
  });

  it.each(weathers)(
    'fires in time and resolves after the trouble: %s',
    (weather) => {
      const some = pickPart(cases, parts[weather] ?? 6);
      const exposed = some.filter((each) => isExposed(each, weather));
      const files = exposed.map((each) => {
        const name = `${each.alert}.test.json`;
        const tests = [toPromtoolTest(each, weather)];
        const rules = { rule_files: [`${each.alert}.rules.json`], evaluation_interval: toInterval(each) };
        const order = each.alert.includes('Burn') ? { group_eval_order: groupOrder } : {};
        const text = JSON.stringify({ ...rules, ...order, tests });
        writeFileSync(join(directory, name), text);
        return name;
      });
      const output = runPromtool(promtool, ['test', 'rules', ...files], directory);
      expect(output.replaceAll(/^Unit Testing: .*\n {2}SUCCESS\n+/gm, '')).toBe('');
      expect(output.match(/SUCCESS/g)).toHaveLength(exposed.length);
    },
    120_000,
  );
});
