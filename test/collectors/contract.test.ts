import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { toOwnFamilies } from '../../src/metrics/reference.ts';
import { createSelf } from '../../src/metrics/self.ts';

/** Executions and schedules have their own folders of tests. */
const testedElsewhere = ['executions', 'schedule', 'changes'];

/** The averages come from the collector `executions`; if it is off, from `job-info`. */
const ofTwoCollectors = ['automation_job_average_duration_seconds'];

const states = `
automation_execution_mode mode
automation_project_execution_mode mode
automation_job_last_status status
`;

const ownFamilies = toOwnFamilies(createSelf({ version: '', nodeVersion: '' }).registry);
const watchedFamilies = collectors.flatMap(({ metrics }) => Object.values(metrics));

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

describe('collectors, the contract', () => {
  it('has a test for every collector', () => {
    const tests = readdirSync(import.meta.dirname);
    const untested = collectors.filter(({ name }) => !tests.includes(`${name}.test.ts`));
    expect(untested.map(({ name }) => name)).toEqual(testedElsewhere);
  });

  it('assigns each family to one collector, with few exceptions', () => {
    const names = [...watchedFamilies, ...ownFamilies].map(({ name }) => name);
    const twice = names.filter((name, index) => names.indexOf(name) !== index);
    expect(twice).toEqual(ofTwoCollectors);
  });

  it('names the source of each value, in brackets at the end', () => {
    const silent = watchedFamilies.filter(({ help }) => !/^[A-Z].*[^.] \[[^[\]]+\]\.$/.test(help));
    expect(silent.map(({ name, help }) => [name, help])).toEqual([]);
  });

  it('shows exactly one state of a state set as 1', () => {
    const found = watchedFamilies.flatMap(({ name, stateLabel }) =>
      stateLabel === undefined ? [] : [name, stateLabel].join(' '),
    );
    expect(found.toSorted()).toEqual(linesOf(states).toSorted());
  });

  it('has no label that Prometheus or Kubernetes sets on targets', () => {
    const taken = ['job', 'instance', 'endpoint', 'service', 'namespace', 'pod', 'type'];
    const found = [...watchedFamilies, ...ownFamilies].filter(({ labels }) =>
      labels.some((label) => taken.includes(label)),
    );
    expect(found.map(({ name }) => name)).toEqual([]);
  });

  it('uses the suffix total for counters only', () => {
    const odd = [...watchedFamilies, ...ownFamilies].filter(
      ({ name, type }) =>
        name.endsWith('_total') !== (type === 'counter') || name.endsWith('_info') !== (type === 'info'),
    );
    expect(odd.map(({ name }) => name)).toEqual([]);
  });
});
