import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** How many passed, and the names of the others. */
export type Tally = {
  passed: number;
  readonly failed: string[];
  readonly skipped: string[];
  /** They passed, but not at once. */
  readonly retried: string[];
};

export function createTally(): Tally {
  return { passed: 0, failed: [], skipped: [], retried: [] };
}

/** Counts the tests of a run; a file that does not load and an error outside of any test count as a failed one. */
export function createTallyReporter(tally: Tally): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      for (const { message } of unhandledErrors)
        tally.failed.push(`an error outside of any test: ${toFirstLine(message)}`);
      for (const module of modules) addModule(tally, module);
    },
  };
}

/** The end of the suite's output: the names of what did not simply pass, then one line that counts. */
export function toSummary(tally: Tally): string {
  return [
    ...toList('Skipped:', tally.skipped),
    ...toList('Passed when run again:', tally.retried),
    ...toList('Failed:', tally.failed),
    `${tally.passed} passed, ${tally.failed.length} failed, ${tally.skipped.length} skipped`,
  ].join('\n');
}

/** A test that did not run proves nothing: in CI, where every tool can be had, it is a failure. */
export function hasSucceeded({ failed, skipped }: Tally, inCi: boolean): boolean {
  return failed.length === 0 && (skipped.length === 0 || !inCi);
}

function addModule(tally: Tally, module: TestModule): void {
  const file = module.relativeModuleId;
  const suites = [...module.children.allSuites()];
  for (const { message } of [...module.errors(), ...suites.flatMap((suite) => suite.errors())])
    tally.failed.push(`${file}: ${toFirstLine(message)}`);
  for (const test of module.children.allTests()) addTest(tally, test, `${file}: ${test.fullName}`);
}

function addTest(tally: Tally, test: TestCase, name: string): void {
  const result = test.result();
  switch (result.state) {
    case 'passed':
      tally.passed += 1;
      if ((test.diagnostic()?.retryCount ?? 0) > 0) tally.retried.push(withReason(name, result.errors?.[0]?.message));
      return;
    case 'skipped':
      tally.skipped.push(withReason(name, result.note));
      return;
    case 'failed':
    case 'pending':
      tally.failed.push(withReason(name, result.errors?.[0]?.message));
  }
}

function withReason(name: string, reason: string | undefined): string {
  return reason === undefined ? name : `${name} (${toFirstLine(reason)})`;
}

function toFirstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 300) ?? '';
}

function toList(title: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [title, ...names.map((name) => `  ${name}`)];
}
