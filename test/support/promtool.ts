import { spawnSync } from 'node:child_process';

/** Runs promtool to its end and returns all that it printed. */
export function runPromtool(promtool: string, parameters: readonly string[], cwd: string): string {
  // Promtool spends most of its time on garbage collection by default.
  const env = { ...process.env, GOGC: '400' };
  const { stdout, stderr } = spawnSync(promtool, parameters, { cwd, env, encoding: 'utf8' });
  return stdout + stderr;
}
