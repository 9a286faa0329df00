import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { provideCli } from './built.ts';

export type Child = {
  readonly pid: number;
  /** The output and error output of the process up to now. */
  readonly output: () => string;
  /** Waits for a match in the output; rejects if the process ends, or after the limit. */
  readonly waitFor: (pattern: RegExp, limitMs?: number) => Promise<RegExpExecArray>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Ends the process; kills it if it does not end. */
  readonly stop: () => Promise<void>;
};

type ChildOptions = {
  readonly env?: Variables;
  readonly cwd?: string;
  /** Starts a process group, so that children end with the process. */
  readonly isGroup?: boolean;
};

type Variables = Readonly<Record<string, string>>;

/** The top of the repository. A test may delete its working directory, so another directory is used. */
const top = fileURLToPath(new URL('../..', import.meta.url));

/** Starts the command line of the built package in its own process. */
export function startCli(args: readonly string[], options: ChildOptions = {}): Child {
  // With this setting of the allocator, the process does not restart itself; the test of the bundle checks the restart.
  return startChild(process.execPath, [provideCli(), ...args], {
    ...options,
    env: { MALLOC_ARENA_MAX: '1', ...options.env },
  });
}

export function startChild(command: string, args: readonly string[], options: ChildOptions = {}): Child {
  const { env = {}, cwd = top, isGroup = false } = options;
  const child = spawn(command, args, {
    env: toChildEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: isGroup,
    cwd,
  });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));

  async function waitFor(pattern: RegExp, limitMs = 30_000): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void =>
        settle(() => reject(new Error(`${why} before ${String(pattern)}:\n${output}`)));
      const limit = setTimeout(() => fail(`nothing in ${limitMs} ms`), limitMs);
      const look = (): void => {
        const match = pattern.exec(output);
        if (match !== null) settle(() => resolve(match));
      };
      const settle = (finish: () => void): void => {
        clearTimeout(limit);
        listeners.delete(look);
        finish();
      };
      listeners.add(look);
      look();
      void ended.then(() => fail(`${command} ended`));
    });
  }

  return {
    pid: child.pid ?? 0,
    output: () => output,
    waitFor,
    ended,
    kill: (signal) => child.kill(signal),
    stop: () => stopChild(child, ended, isGroup),
  };
}

/** The environment of child processes: PATH and compiled code. A test with its own home directory does not share compiled code. */
export function toChildEnvironment(env: Variables = {}): NodeJS.ProcessEnv {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...('HOME' in env ? {} : { NODE_COMPILE_CACHE }), ...env };
}

async function stopChild(child: ChildProcess, ended: Promise<unknown>, isGroup: boolean): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const force = setTimeout(() => {
    if (isGroup && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  }, 5000);
  await ended;
  clearTimeout(force);
}
