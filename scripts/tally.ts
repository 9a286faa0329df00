import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The number of tests that passed, and the names of all other tests. */
type Tally = {
  passed: number;
  readonly failed: string[];
  readonly skipped: string[];
  /** Tests that passed only in a second attempt. */
  readonly retried: string[];
};

export function createTally(): Tally {
  return { passed: 0, failed: [], skipped: [], retried: [] };
}

/** Counts the tests of a run. A file that does not load and an error outside of tests count as failed tests. */
export function createTallyReporter(tally: Tally): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      for (const { message } of unhandledErrors)
        tally.failed.push(`an error outside of any test: ${toFirstLine(message)}`);
      for (const module of modules) addModule(tally, module);
    },
  };
}

/** Renders the end of the output: skipped, repeated and failed tests, then numbers. */
export function toSummary(tally: Tally): string {
  return [
    ...toList('Skipped:', tally.skipped),
    ...toList('Passed when run again:', tally.retried),
    ...toList('Failed:', tally.failed),
    `${tally.passed} passed, ${tally.failed.length} failed, ${tally.skipped.length} skipped`,
  ].join('\n');
}

const budgetSeconds = { push: 480, all: 2700 };

/** Compares the duration of a whole run with its limit on two idle cores; a busy machine does not make a run fail. */
export function toTimes({ isAll, seconds, load }: TimesOfRun): string {
  const budget = isAll ? budgetSeconds.all : budgetSeconds.push;
  const verdict = seconds > budget ? `${(seconds - budget).toFixed(0)} s over` : 'within';
  return `${seconds.toFixed(0)} s, ${verdict} the budget of ${budget} s; load average ${load.toFixed(1)}`;
}

type TimesOfRun = { readonly isAll: boolean; readonly seconds: number; readonly load: number };

/** Reports whether a run has succeeded. CI has every tool, so a skipped test is a failure there. */
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
      addRetried(tally, test, name);
      return;
    case 'skipped':
      tally.skipped.push(withReason(name, result.note));
      return;
    case 'failed':
    case 'pending':
      tally.failed.push(withReason(name, result.errors?.[0]?.message));
  }
}

function addRetried(tally: Tally, test: TestCase, name: string): void {
  const { retryCount = 0, duration = 0 } = test.diagnostic() ?? {};
  if (retryCount === 0) return;
  const timed = `${name}, ${(duration / 1000).toFixed(1)} s`;
  tally.retried.push(withReason(timed, test.result().errors?.[0]?.message));
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
