import type { Reporter, TestCase, TestModule } from 'vitest/node';

export type Tally = { passed: number; failed: number; readonly skipped: string[] };

/** Counts the tests of a run; a file that does not load and an error outside of any test count as a failed one. */
export function createTallyReporter(tally: Tally): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      tally.failed += unhandledErrors.length;
      for (const module of modules) addModule(tally, module);
    },
  };
}

/** The last line of the suite's output. */
export function toLastLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed, ${skipped.length} skipped`;
}

/** A test that did not run proves nothing: in CI, where every tool can be had, it is a failure. */
export function hasSucceeded({ failed, skipped }: Tally, inCi: boolean): boolean {
  return failed === 0 && (skipped.length === 0 || !inCi);
}

function addModule(tally: Tally, module: TestModule): void {
  tally.failed += module.errors().length;
  for (const suite of module.children.allSuites()) tally.failed += suite.errors().length;
  for (const test of module.children.allTests()) addTest(tally, test);
}

function addTest(tally: Tally, test: TestCase): void {
  const result = test.result();
  switch (result.state) {
    case 'passed':
      tally.passed += 1;
      return;
    case 'skipped':
      tally.skipped.push(result.note === undefined ? test.fullName : `${test.fullName} (${result.note})`);
      return;
    case 'failed':
    case 'pending':
      tally.failed += 1;
  }
}
