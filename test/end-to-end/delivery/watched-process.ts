import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { rolldown } from 'rolldown';
import { toChildEnvironment } from '../../support/child.ts';
import type { Order, Word } from './watcher.ts';

export type WatchedProcess = ReturnType<typeof startWatched>;

let script = join(import.meta.dirname, 'watcher.ts');

/** Bundles and compiles the modules, so that processes start three times as fast. */
export async function warmUp(): Promise<void> {
  const dir = join(import.meta.dirname, '../../../node_modules/.cache', 'watcher');
  const entries = ['test/end-to-end/delivery/watcher.ts', 'src/state/sqlite-health.ts'];
  const build = await rolldown({ cwd: join(import.meta.dirname, '../../..'), input: entries, platform: 'node' });
  await build.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' });
  await build.close();
  script = join(dir, 'watcher.js');
  const child = spawn(process.execPath, [script], {
    env: toChildEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'close');
}

/** Starts a process of the daemon that reports words; `hear` gets each word in order, and undefined when the process has ended. */
export function startWatched(hear: (word: Word) => void) {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, [script], {
    env: toChildEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'close');
  let waiting: { readonly until: readonly Word['says'][]; readonly tell: (word: Word | undefined) => void } | undefined;
  let isGone = false;
  // A failed write is ignored: the end of the process is noticed anyway.
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    // This cast is safe: the process writes these lines.
    const word = JSON.parse(line) as Word;
    hear(word);
    if (waiting?.until.includes(word.says) === true) settle(word);
  });
  void gone.then(() => {
    isGone = true;
    settle(undefined);
  });

  function settle(word: Word | undefined): void {
    const { tell } = waiting ?? {};
    waiting = undefined;
    tell?.(word);
  }

  function waitFor(until: readonly Word['says'][]): Promise<Word | undefined> {
    return new Promise((resolve) => {
      if (isGone) resolve(undefined);
      else waiting = { until, tell: resolve };
    });
  }

  return {
    /** Waits for a given word; undefined at the end of the process, or after the limit. */
    hearNext: (until: readonly Word['says'][], limitMs: number) => {
      const limit = setTimeout(() => settle(undefined), limitMs);
      return waitFor(until).finally(() => clearTimeout(limit));
    },
    ready: waitFor(['ready']),
    /** Sends an order, and waits for a given word; `hear` gets all earlier words. */
    order: (order: Order, until: readonly Word['says'][]) => {
      const word = waitFor(until);
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return word;
    },
    /** Kills the process by its pid with SIGKILL; resolves when the process is gone. */
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
