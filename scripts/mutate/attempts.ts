import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Answer, endless, type Order } from './orders.ts';

export type Attempts = {
  readonly attempt: (order: Order) => Promise<Answer>;
  readonly close: () => void;
};

/** A session grows with what it loads. */
const mostOfSession = 80;

/** Tries one mutant after the other, in a process that is replaced where a mutant ends or blocks it. */
export function startAttempts(): Attempts {
  let session: ChildProcess | undefined;
  let tried = 0;

  function close(): void {
    session?.kill('SIGKILL');
    session = undefined;
    tried = 0;
  }

  return {
    close,
    attempt: async (order) => {
      if (tried >= mostOfSession) close();
      session ??= openSession();
      tried += 1;
      const answer = await ask(session, order);
      if (answer !== undefined && !isLast(answer)) return answer;
      close();
      return answer ?? { noticedBy: 'it ends the process', leftOut: [] };
    },
  };
}

function isLast({ noticedBy }: Answer): boolean {
  return noticedBy === endless;
}

function openSession(): ChildProcess {
  return fork(join(import.meta.dirname, 'session.ts'), {
    execArgv: ['--max-old-space-size=1536'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function ask(session: ChildProcess, order: Order): Promise<Answer | undefined> {
  const asked = new AbortController();
  const { signal } = asked;
  // Only the session sends messages.
  const answered = once(session, 'message', { signal }).then(([message]) => message as Answer);
  const ended = once(session, 'exit', { signal }).then(() => undefined);
  for (const either of [answered, ended]) either.catch(() => undefined);
  session.send(order);
  try {
    return await Promise.race([answered, ended]);
  } finally {
    asked.abort();
  }
}
