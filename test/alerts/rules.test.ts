import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeWithTools } from '../support/tools.ts';
import { toRulesOf } from './cases/rules-of.ts';

interface Check {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}

const alerts = new URL('../../alerts/', import.meta.url);
const testFiles = readdirSync(new URL('tests/', alerts)).toSorted();

describe('alerts/tests', () => {
  const names = [...readText('rules.yaml').matchAll(/- alert: (\w+)/g)].map((match) => match[1]);
  const checks = testFiles.flatMap((file) => readChecks(`tests/${file}`));

  it('names only existing alerts', () => {
    expect(checks.map(({ alertname }) => alertname).filter((name) => !names.includes(name))).toEqual([]);
  });
});

const recordings = [
  'automation:silent_alerts:info',
  'slo:current_burn_rate:ratio',
  'slo:error_budget:ratio',
  'slo:objective:ratio',
];

describeWithTools('alerts/rules', ['promtool'], ({ promtool }) => {
  it('is a rule file that Prometheus accepts', () => {
    expect(run(promtool, ['check', 'rules', 'rules.yaml'])).toContain('SUCCESS: 95 rules found');
  });

  it.each(testFiles)(
    'fires and stays silent as in %s',
    (file) => {
      const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-rules-'));
      const text = readText(`tests/${file}`);
      const alerts = readChecks(`tests/${file}`).map(({ alertname }) => alertname);
      writeFileSync(join(directory, 'rules.yaml'), toRulesOf(alerts, recordings));
      writeFileSync(join(directory, file), text.replace('../rules.yaml', 'rules.yaml'));
      const output = run(promtool, ['test', 'rules', file], directory);
      rmSync(directory, { recursive: true });
      expect(output).toContain('SUCCESS');
      expect(output).not.toContain('FAILED');
    },
    120_000,
  );
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
function run(promtool: string, parameters: readonly string[], cwd = fileURLToPath(alerts)): string {
  const { stdout, stderr } = spawnSync(promtool, parameters, { cwd, encoding: 'utf8' });
  return stdout + stderr;
}
