import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { ClientBase } from 'pg';

/** The parts of a client's connection that are used here; they are missing from pg's types. */
type Wire = EventEmitter & { stream: Duplex };

/** More than any state needs: without a limit, a faulty database could fill the memory. */
const maxAnswerBytes = 256 * 2 ** 20;
/** The memory that a row or result needs in addition to its bytes. */
const bytesOfMessage = 400;

const counts = new WeakMap<ClientBase, { bytes: number }>();

export function limitAnswers<Client extends ClientBase>(client: Client): Client {
  const { connection } = client as unknown as { connection: Wire };
  const count = { bytes: 0 };
  counts.set(client, count);
  const add = (bytes: number): void => {
    count.bytes += bytes;
    if (count.bytes > maxAnswerBytes) connection.stream.destroy(new Error(says));
  };
  const watch = (): void => void connection.stream.on('data', ({ length }: Buffer) => add(length));
  watch();
  // After this event, the connection has a new stream.
  connection.on('sslconnect', watch);
  connection.on('message', () => add(bytesOfMessage));
  return client;
}

const says = `its answer is larger than ${maxAnswerBytes / 2 ** 20} MB; check whether it is the right database`;

/** Call before each statement. */
export function beginAnswer(client: ClientBase): void {
  const count = counts.get(client);
  if (count !== undefined) count.bytes = 0;
}
