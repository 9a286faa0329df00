import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeFolder } from '../support/folder.ts';
import { runPromtool } from '../support/promtool.ts';
import { describeWithTools } from '../support/tools.ts';
import { toRulesOf } from './cases/rules-of.ts';

interface Test {
  readonly alert_rule_test?: readonly { readonly alertname: string }[];
}

interface TestFile {
  readonly evaluation_interval: string;
  readonly tests: readonly Test[];
}

const alerts = new URL('../../alerts/', import.meta.url);
const allNames = [...readText('rules.yaml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const testFiles = readdirSync(new URL('tests/', alerts)).toSorted();

describe('alerts/tests', () => {
  it('names only existing alerts', () => {
    const names = testFiles.flatMap((file) => readTests(file).tests.flatMap(listAlerts));
    expect(names.filter((name) => !allNames.includes(name))).toEqual([]);
  });
});

describeWithTools('alerts/rules', ['promtool'], ({ promtool }) => {
  it('writes a rule file that Prometheus accepts', () => {
    expect(runPromtool(promtool, ['check', 'rules', 'rules.yaml'], fileURLToPath(alerts))).toContain(
      'SUCCESS: 107 rules found',
    );
  });

  it.each(testFiles)(
    'fires and stays silent as in %s',
    (file) => {
      const { tests, ...common } = readTests(file);
      const directory = makeFolder();
      const files = tests.map((test, index) => {
        // Each file has only the rules of its test: all rules would take minutes.
        writeFileSync(join(directory, `rules-${index}.json`), toRulesOf(listAlerts(test), JSON.stringify(test)));
        const text = JSON.stringify({ ...common, rule_files: [`rules-${index}.json`], tests: [test] });
        writeFileSync(join(directory, `${index}.json`), text);
        return `${index}.json`;
      });
      const output = runPromtool(promtool, ['test', 'rules', ...files], directory);
      expect(output.replaceAll(/^Unit Testing: .*\n {2}SUCCESS\n+/gm, '')).toBe('');
      expect(output.match(/SUCCESS/g)).toHaveLength(tests.length);
    },
    120_000,
  );
});

function readText(path: string): string {
  return readFileSync(new URL(path, alerts), 'utf8');
}

function readTests(file: string): TestFile {
  // The cast has only the fields that the tests use; promtool checks the rest.
  return parse(readText(`tests/${file}`)) as TestFile;
}

/** All alerts that the test checks or that its expressions name. */
function listAlerts(test: Test): string[] {
  const checked = (test.alert_rule_test ?? []).map(({ alertname }) => alertname);
  const text = JSON.stringify(test);
  return [...checked, ...allNames.filter((name) => text.includes(`alertname=\\"${name}\\"`))];
}
