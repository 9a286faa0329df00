import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createVitest,
  type Reporter,
  type TestModule,
  type TestSequencer,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';
import { applyChange, type Mutant } from './mutants.ts';
import { type Answer, endless, type Order } from './orders.ts';

type Failure = { readonly file: string; readonly by: string; readonly why: string };

/** A sequencer that keeps the given order of the tests. */
class AsGiven implements TestSequencer {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
}

const top = join(import.meta.dirname, '..', '..');
// An endless loop blocks its worker, not this process. Waiting needs no CPU time.
const limitMs = 30_000;

let fault: Mutant | undefined;
let failures: Failure[] = [];
let progressMs = 0;
const proven = new Set<string>();
/** Test files that are left out, each with the reason. */
const leftOut = new Map<string, string>();
const tookMs = new Map<string, number>();

let worker: ChildProcess | undefined;
subscribe('child_process', (message) => {
  worker = (message as { process: ChildProcess }).process;
});

const vitest = await openVitest();
process.on('message', (order: Order) => void attempt(order));
process.on('disconnect', () => process.exit(0));
// A worker in an endless loop does not end with this process.
process.on('exit', () => worker?.kill('SIGKILL'));

async function attempt({ mutant, tests }: Order): Promise<void> {
  for (;;) {
    const failure = await run(quickestFirst(tests), mutant);
    if (failure === undefined) return answer({ leftOut: [...leftOut.values()] });
    const without = await failureWithout(failure.file, tests);
    if (without === undefined && (await failsAgain(failure.file, mutant)))
      return answer({ noticedBy: failure.by, leftOut: [...leftOut.values()] });
    const { by, why } = without ?? { ...failure, why: `it failed once, and then passed: ${failure.why}` };
    leftOut.set(failure.file, `${by}: ${why}`);
  }
}

/** Moves slow tests to the end. The order of the other tests stays. */
function quickestFirst(tests: readonly string[]): readonly string[] {
  const seconds = (test: string) => Math.floor((tookMs.get(test) ?? 0) / 1000);
  return tests.filter((test) => !leftOut.has(test)).toSorted((one, other) => seconds(one) - seconds(other));
}

// A test that fails because of other work passes alone.
async function failsAgain(file: string, mutant: Mutant): Promise<boolean> {
  return file === '' || (await run([file], mutant)) !== undefined;
}

// Any test may have caused an error outside of a test.
async function failureWithout(file: string, tests: readonly string[]): Promise<Failure | undefined> {
  if (proven.has(file)) return undefined;
  const failure = await run(file === '' ? tests : [file], undefined);
  if (failure === undefined && file !== '') proven.add(file);
  return failure;
}

async function run(tests: readonly string[], mutant: Mutant | undefined): Promise<Failure | undefined> {
  if (tests.length === 0) return undefined;
  if (fault !== undefined) vitest.invalidateFile(join(top, fault.file));
  fault = mutant;
  if (fault !== undefined) vitest.invalidateFile(join(top, fault.file));
  const specifications = tests.map((test) => vitest.getRootProject().createSpecification(join(top, test)));

  progress();
  const watch = setInterval(() => {
    if (cpuMs() - progressMs > limitMs) answer({ noticedBy: endless, leftOut: [] }, () => process.exit(0));
  }, 500);
  failures = [];
  // The returned modules are those of all runs so far, so failures are read from `failures`.
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications, false);
  clearInterval(watch);
  const [failure] = failures;
  if (failure !== undefined || unhandledErrors.length === 0 || leftOut.has('')) return failure;
  return { file: '', by: 'an error outside of any test', why: String(unhandledErrors[0]) };
}

function collect(module: TestModule): void {
  const file = module.moduleId.slice(top.length + 1);
  if (module.state() === 'passed') tookMs.set(file, module.diagnostic().duration);
  if (module.state() !== 'failed') return;
  const [test] = [...module.children.allTests('failed')];
  const [error] = test?.result().errors ?? module.errors();
  const by = test === undefined ? `${file} does not load` : `${file} > ${test.fullName}`;
  failures.push({ file, by, why: error?.message.split('\n')[0] ?? '' });
}

async function openVitest(): Promise<Vitest> {
  const mutate = {
    name: 'mutate',
    enforce: 'pre' as const,
    transform: (code: string, id: string) => {
      // Starting a session takes a long time.
      progress();
      return fault !== undefined && id.split('?')[0] === join(top, fault.file) ? applyChange(code, fault) : undefined;
    },
  };
  const reporter: Reporter = {
    onTestModuleStart: progress,
    onTestModuleEnd: collect,
    onTestCaseReady: progress,
    onTestCaseResult: progress,
  };
  const opened = await createVitest(
    {
      config: false,
      root: top,
      include: ['test/**/*.test.ts'],
      watch: false,
      silent: true,
      reporters: [reporter],
      // With one process, nothing is loaded twice. A thread cannot change its directory. A cache on disk would keep a fault.
      pool: 'forks',
      execArgv: ['--max-old-space-size=1536'],
      isolate: false,
      maxWorkers: 1,
      fsModuleCache: false,
      bail: 1,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // Tests play as many days as in a push.
      env: { EXPECTED_RUNS_DAYS: '12' },
      sequence: { sequencer: AsGiven },
    },
    { plugins: [mutate] },
  );
  await opened.standalone();
  return opened;
}

function progress(): void {
  progressMs = cpuMs();
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + cpuMsOf(worker?.pid ?? 0);
}

function cpuMsOf(pid: number): number {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return 10 * (Number(afterName[11]) + Number(afterName[12]));
  } catch {
    return 0;
  }
}

function answer(message: Answer, sent?: () => void): void {
  process.send?.(message, undefined, undefined, sent);
}
