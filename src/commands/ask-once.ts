import { createLargeAnswers } from '../api/answers/large-answers.ts';
import type { Api } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import type { ServerConfig } from '../config/config.ts';
import { connectServer, openTransport } from '../daemon/connect.ts';
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

/** Reports whether a server answers a path next to its API without credentials. */
export async function isOpenToAll(server: ServerConfig, path: string): Promise<boolean> {
  const transport = openTransport(server, { clock: systemClock });
  try {
    const { status, headers } = await transport.get({ apiEndpoint: path, path, headers: {} });
    return status === 200 && !/^text\/html/i.test(headers['content-type'] ?? '');
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  } finally {
    await transport.close();
  }
}

function ignore(): void {}
