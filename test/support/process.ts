import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a command and returns its output without surrounding space; an error contains the error output. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly timeoutMs?: number } = {},
): Promise<string> {
  const { stdout } = await execute(command, args, {
    cwd: options.cwd,
    timeout: options.timeoutMs ?? 300_000,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  });
  return stdout.trim();
}
