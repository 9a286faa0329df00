import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type CliRun = {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** What lies in the directory afterwards that did not before. */
  readonly left: readonly string[];
};

export type CliOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the directory that it runs in, by path. */
  readonly files?: Readonly<Record<string, string>>;
};

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** Runs the command line to its end as a process of its own, in a directory of its own, its two outputs apart. */
export async function runCli(args: readonly string[], { env = {}, files = {} }: CliOptions = {}): Promise<CliRun> {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-commands-'));
  try {
    for (const [path, text] of Object.entries(files)) writeInto(directory, path, text);
    const before = new Set(readdirSync(directory));
    const ended = await run(directory, args, env);
    return { ...ended, left: readdirSync(directory).filter((name) => !before.has(name)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function writeInto(directory: string, path: string, text: string): void {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}

function run(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<Omit<CliRun, 'left'>>((resolve) => {
    const options = { cwd, env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: 50_000, killSignal: 'SIGKILL' };
    const child = execFile(
      process.execPath,
      [cli, ...args],
      { ...options, killSignal: 'SIGKILL' },
      (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? undefined, stdout, stderr });
      },
    );
  });
}
