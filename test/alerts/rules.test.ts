import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeWithTools } from '../support/tools.ts';

interface Check {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}

const alerts = new URL('../../alerts/', import.meta.url);
const names = [...readText('rules.yaml').matchAll(/- alert: (\w+)/g)].map((match) => match[1]);
const testFiles = readdirSync(new URL('tests/', alerts)).toSorted();

describe('alerts/tests', () => {
  const checks = testFiles.flatMap((file) => readChecks(`tests/${file}`));

  it.each(names)('show %s firing and silent', (name) => {
    const own = checks.filter(({ alertname }) => alertname === name);
    expect(own.filter((check) => check.exp_alerts.length > 0).length).toBeGreaterThanOrEqual(1);
    expect(own.filter((check) => check.exp_alerts.length === 0).length).toBeGreaterThanOrEqual(2);
  });

  it('name no alert that does not exist', () => {
    expect(checks.map(({ alertname }) => alertname).filter((name) => !names.includes(name))).toEqual([]);
  });
});

describeWithTools('alerts/rules', ['promtool'], ({ promtool }) => {
  it('is a rule file that Prometheus takes', () => {
    expect(run(promtool, ['check', 'rules', 'rules.yaml'])).toContain(`SUCCESS: ${names.length} rules found`);
  });

  it.each(testFiles)('fires and stays silent as %s says', (file) => {
    const output = run(promtool, ['test', 'rules', `tests/${file}`]);
    expect(output).toContain('SUCCESS');
    expect(output).not.toContain('FAILED');
  });
});

function readText(path: string): string {
  return readFileSync(new URL(path, alerts), 'utf8');
}

function readChecks(path: string): Check[] {
  // The cast names only what the tests look at; promtool checks the rest.
  const { tests } = parse(readText(path)) as {
    readonly tests: readonly { readonly alert_rule_test?: readonly Check[] }[];
  };
  return tests.flatMap((test) => test.alert_rule_test ?? []);
}

/** The whole output, so that a failing test shows what promtool found. */
function run(promtool: string, parameters: readonly string[]): string {
  const { stdout, stderr } = spawnSync(promtool, parameters, { cwd: fileURLToPath(alerts), encoding: 'utf8' });
  return stdout + stderr;
}
