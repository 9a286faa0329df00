import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Answer, ended, endless, type Order } from './orders.ts';

/** The reason why a mutant was not measured: its session was killed from outside, or its tests took too long. */
export type Lost = { readonly lost: string };

type Ending = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type Attempts = { readonly attempt: (order: Order) => Promise<Answer | Lost>; readonly close: () => void };

/** The maximum number of mutants in a session, whose memory grows with the modules that it loads. */
const maxOfSession = 80;
/** The time limit for a mutant, far above the limits of its tests. */
const limitMs = 600_000;
/**
 * Signals that only an operator or the kernel sends. A process that ends by itself has an exit code, or SIGABRT if it
 * lacked memory.
 */
const fromOutside: readonly string[] = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGKILL'];

/** Tries mutants one by one in a process; a process that ends or hangs is replaced. */
export function startAttempts(): Attempts {
  let session: ChildProcess | undefined;
  let tried = 0;

  async function attemptOnce(order: Order): Promise<Answer | Lost> {
    if (tried >= maxOfSession || (session !== undefined && isOver(session))) close();
    session ??= openSession();
    tried += 1;
    const answer = await ask(session, order);
    if ('lost' in answer || isLast(answer)) close();
    return answer;
  }

  function close(): void {
    // The session ends with its worker.
    if (session?.connected === true) session.disconnect();
    session = undefined;
    tried = 0;
  }

  return {
    close,
    attempt: async (order) => {
      const answer = await attemptOnce(order);
      return 'lost' in answer ? attemptOnce(order) : answer;
    },
  };
}

/** Decides whether the mutant ended the session, or something outside. */
export function judgeEnding({ code, signal }: Ending): Answer | Lost {
  if (signal !== null && fromOutside.includes(signal)) return { lost: `its session was killed by ${signal}` };
  return { noticedBy: code === null ? `${ended} by ${String(signal)}` : ended, leftOut: [] };
}

function isLast({ noticedBy }: Answer): boolean {
  return noticedBy === endless || noticedBy?.startsWith(ended) === true;
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function openSession(): ChildProcess {
  return fork(join(import.meta.dirname, 'session.ts'), {
    execArgv: ['--max-old-space-size=1536'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function ask(session: ChildProcess, order: Order): Promise<Answer | Lost> {
  const asked = new AbortController();
  const { signal } = asked;
  // Only the session sends these messages.
  const answered = once(session, 'message', { signal }).then(([message]) => message as Answer);
  const exited = once(session, 'exit', { signal }).then(() =>
    judgeEnding({ code: session.exitCode, signal: session.signalCode }),
  );
  const late = setTimeout(limitMs, { lost: `its tests took longer than ${limitMs / 1000} s` }, { signal });
  const outcomes = [answered, exited, late];
  for (const outcome of outcomes) outcome.catch(() => undefined);
  // If the session has ended, sending fails. This error is ignored: the way in which the session ended shows the reason.
  session.send(order, () => undefined);
  try {
    return await Promise.race(outcomes);
  } finally {
    asked.abort();
  }
}
