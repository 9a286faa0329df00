import { createLargeAnswers } from '../api/answers/large-answers.ts';
import type { Api } from '../api/client.ts';
import type { ServerConfig } from '../config/config.ts';
import { connectServer } from '../daemon/connect.ts';
import { systemClock } from '../domain/system-clock.ts';

/** Sends requests over a connection that is closed afterwards. */
export async function askOnce<Answer>(server: ServerConfig, ask: (api: Api) => Promise<Answer>): Promise<Answer> {
  const observe = { request: ignore, error: ignore, waited: ignore, inFlight: ignore, circuit: ignore };
  const largeAnswers = createLargeAnswers({ clock: systemClock });
  const connection = connectServer(server, { clock: systemClock, observe, onSecret: ignore, largeAnswers });
  try {
    return await ask(connection.client.within({ lane: 'vital', forMs: server.timeoutMs }));
  } finally {
    await connection.close();
  }
}

function ignore(): void {}
