import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { allocatorSettings, nodeFlags } from '../../src/commands/start.ts';

/** The command line of the sources. */
export const sourceCli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** The daemon in its own process, as people start it. */
export type Serving = {
  readonly pid: number;
  readonly url: string;
  /** The time from the start of the process until it served pages, and its CPU time until then. */
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly log: () => string;
  /** Stops the daemon; resolves with the duration of the stop. */
  readonly stop: () => Promise<number>;
};

/** Serves the `config.yaml` of a directory, with the state there; `through` may be a command that limits the process. */
export async function startServe(
  directory: string,
  through: readonly string[] = [],
  cli: string = sourceCli,
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const [command = process.execPath, ...before]: readonly string[] = [...through, process.execPath, ...nodeFlags];
  const flags = ['--config.file=config.yaml', '--state.dir=state', '--web.listen-address=127.0.0.1:0'];
  const startedMs = performance.now();
  const daemon = spawn(command, [...before, cli, 'serve', ...flags], {
    cwd: directory,
    // `npm start` and the image set these options too.
    env: { PATH: process.env['PATH'], HOME: directory, ...allocatorSettings, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => daemon.once('close', resolve));
  let log = '';
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const stop = async (): Promise<number> => {
    const askedMs = performance.now();
    daemon.kill('SIGTERM');
    const force = setTimeout(() => daemon.kill('SIGKILL'), 60_000);
    await ended;
    clearTimeout(force);
    return performance.now() - askedMs;
  };
  for (let tries = 0; tries < 6000 && daemon.exitCode === null; tries += 1) {
    const url = /msg=serving url=(http:\S+)/.exec(log)?.[1];
    if (url !== undefined)
      return {
        pid: daemon.pid ?? 0,
        url,
        startMs: performance.now() - startedMs,
        startCpuMs: readCpuMs(daemon.pid ?? 0),
        log: () => log,
        stop,
      };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await stop();
  throw new Error(`The daemon did not start:\n${log}`);
}

export function readMemoryMb(pid: number, field: 'VmHWM' | 'VmRSS' | 'RssAnon'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Reads the CPU time of a process, which Linux counts in ticks of 10 ms. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
