import { spawn } from 'node:child_process';
import { join } from 'node:path';

type Step = { readonly name: string; readonly script: string; readonly args: readonly string[] };

type StepResult = { readonly name: string; readonly passed: boolean };

/** Flags that skip files which have not changed since the last run. */
const incremental: readonly string[] = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo'];

/** The static checks. The rules of the architecture are checked by `npm test`. */
export const staticSteps: readonly Step[] = [
  { name: 'types', script: 'typescript/bin/tsc', args: ['-p', 'tsconfig.json', '--noEmit', ...incremental] },
  { name: 'lint', script: 'oxlint/bin/oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', script: '@biomejs/biome/bin/biome', args: ['ci', '--colors=off', '.'] },
];

const architecture: Step = {
  name: 'architecture',
  script: 'vitest/vitest.mjs',
  args: ['run', 'test/architecture', '--reporter=dot'],
};

/** Runs the steps in parallel; prints the time of each step, and the output of each step that failed. */
export async function runSteps(steps: readonly Step[]): Promise<StepResult[]> {
  return Promise.all(steps.map(runStep));
}

if (import.meta.main) {
  const results = await runSteps([...staticSteps, architecture]);
  process.exitCode = results.every((result) => result.passed) ? 0 : 1;
}

async function runStep(step: Step): Promise<StepResult> {
  const startedAtMs = performance.now();
  const { code, output } = await runScript(step);
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  const passed = code === 0;
  console.log(`${passed ? '✓' : '✗'} ${step.name} ${seconds} s${passed ? '' : `\n${output}`}`);
  return { name: step.name, passed };
}

// The scripts run with this Node, not with the first `node` on the PATH.
function runScript(step: Step): Promise<{ code: number | null; output: string }> {
  const script = join(import.meta.dirname, '..', 'node_modules', step.script);
  const child = spawn(process.execPath, [script, ...step.args], {
    cwd: join(import.meta.dirname, '..'),
    // Two steps are Go programs, which would spend a third of their time on garbage collection.
    env: { GOGC: '400', ...process.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, output: Buffer.concat(chunks).toString('utf8') });
    });
  });
}
