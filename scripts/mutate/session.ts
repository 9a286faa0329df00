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

type Failure = { readonly file: string; readonly by: string };

/** The tests in the order that they are given in. */
class AsGiven implements TestSequencer {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
}

const top = join(import.meta.dirname, '..', '..');
// An endless loop blocks its worker, not this thread. Waiting costs no CPU time and has its own limits.
const limitMs = 12_000;

let fault: Mutant | undefined;
let failures: Failure[] = [];
let progressMs = 0;
const proven = new Set<string>();
const leftOut = new Set<string>();
const tookMs = new Map<string, number>();

const vitest = await openVitest();
process.on('message', (order: Order) => void attempt(order));
process.on('disconnect', () => process.exit(0));

async function attempt({ mutant, tests }: Order): Promise<void> {
  for (;;) {
    const failure = await run(quickestFirst(tests), mutant);
    if (failure === undefined) return answer({ leftOut: [...leftOut] });
    if (await passesWithout(failure.file, tests)) return answer({ noticedBy: failure.by, leftOut: [...leftOut] });
    leftOut.add(failure.file);
  }
}

/** Any of several tests notices most changes, so the order stays, except that slow tests come last. */
function quickestFirst(tests: readonly string[]): readonly string[] {
  const seconds = (test: string) => Math.floor((tookMs.get(test) ?? 0) / 1000);
  return tests.filter((test) => !leftOut.has(test)).toSorted((one, other) => seconds(one) - seconds(other));
}

// An error outside of any test may belong to each of them.
async function passesWithout(file: string, tests: readonly string[]): Promise<boolean> {
  if (proven.has(file)) return true;
  if ((await run(file === '' ? tests : [file], undefined)) !== undefined) return false;
  if (file !== '') proven.add(file);
  return true;
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
  // The modules that it returns are those of all runs so far.
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications, false);
  clearInterval(watch);
  const [failure] = failures;
  if (failure !== undefined || unhandledErrors.length === 0 || leftOut.has('')) return failure;
  return { file: '', by: `an error outside of any test: ${String(unhandledErrors[0])}` };
}

function collect(module: TestModule): void {
  const file = module.moduleId.slice(top.length + 1);
  if (module.state() === 'passed') tookMs.set(file, module.diagnostic().duration);
  if (module.state() !== 'failed') return;
  const [test] = [...module.children.allTests('failed')];
  failures.push({ file, by: test === undefined ? `${file} does not load` : `${file} > ${test.fullName}` });
}

async function openVitest(): Promise<Vitest> {
  const mutate = {
    name: 'mutate',
    enforce: 'pre' as const,
    transform: (code: string, id: string) => {
      // The start of a session takes a long time.
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
      // One process for all of them: nothing is loaded twice. No cache on disk, which would keep a fault.
      pool: 'threads',
      isolate: false,
      maxWorkers: 1,
      fsModuleCache: false,
      bail: 1,
      testTimeout: 15_000,
      hookTimeout: 15_000,
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
  return (user + system) / 1000;
}

function answer(message: Answer, sent?: () => void): void {
  process.send?.(message, undefined, undefined, sent);
}
