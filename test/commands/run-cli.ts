import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommandLine } from '../../src/commands/command-line.ts';
import { toVisibleLines } from '../../src/domain/format.ts';
import { provideCli } from '../support/built.ts';
import { toChildEnvironment } from '../support/child.ts';

export type CliRun = {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The files that the run added to its directory. */
  readonly left: readonly string[];
};

export type CliOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the directory in which the command runs, by path. */
  readonly files?: Readonly<Record<string, string>>;
};

/** The variables of a server with a large budget, which makes checks fast. */
export function toEnvironment({ url, token }: { readonly url: string; readonly token: string }) {
  return {
    AUTOMATION_EXPORTER_URL: url,
    AUTOMATION_EXPORTER_TOKEN: token,
    AUTOMATION_EXPORTER_BUDGET_REQUESTS_PER_SECOND: '1000',
  };
}

/** Runs the command line in a new process and directory until it ends, with separate outputs. */
export async function runCli(args: readonly string[], { env = {}, files = {} }: CliOptions = {}): Promise<CliRun> {
  return withFiles(files, (directory) => run(directory, args, env));
}

/** Runs the command line in this process, one run at a time. */
export async function runHere(args: readonly string[], { env = {}, files = {} }: CliOptions = {}): Promise<CliRun> {
  const ran = before.then(() => withFiles(files, (directory) => runIn(directory, args, env)));
  before = ran.catch(() => undefined);
  return ran;
}

let before: Promise<unknown> = Promise.resolve();

async function runIn(directory: string, argv: readonly string[], env: Readonly<Record<string, string>>) {
  const home = process.cwd();
  process.chdir(directory);
  try {
    const outputs = { stdout: '', stderr: '' };
    const code = await runCommandLine({
      argv,
      env,
      write: (text) => void (outputs.stdout += toVisibleLines(text)),
      complain: (text) => void (outputs.stderr += toVisibleLines(text)),
    });
    return { code, ...outputs };
  } finally {
    process.chdir(home);
  }
}

async function withFiles(
  files: Readonly<Record<string, string>>,
  play: (directory: string) => Promise<Omit<CliRun, 'left'>>,
): Promise<CliRun> {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-commands-'));
  try {
    for (const [path, text] of Object.entries(files)) writeInto(directory, path, text);
    const before = new Set(readdirSync(directory));
    const ended = await play(directory);
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
    const options = {
      cwd,
      env: toChildEnvironment({ MALLOC_ARENA_MAX: '1', ...env }),
      timeout: 50_000,
      killSignal: 'SIGKILL',
    };
    const child = execFile(
      process.execPath,
      [provideCli(), ...args],
      { ...options, killSignal: 'SIGKILL' },
      (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? undefined, stdout, stderr });
      },
    );
  });
}
