import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { ClientBase } from 'pg';

/** The connection below a client, as far as it is used here: the types of pg leave it out. */
type Wire = EventEmitter & { stream: Duplex };

/** More than any state is read with; a database that is disturbed would fill the memory with its rows or messages. */
const maxAnswerBytes = 256 * 2 ** 20;
/** What a message takes beside its bytes once it is a row or a result. */
const bytesOfMessage = 400;

const counts = new WeakMap<ClientBase, { bytes: number }>();

/** Ends the connection of a client when one answer is larger than memory may be. */
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
  // From then on it is another stream.
  connection.on('sslconnect', watch);
  connection.on('message', () => add(bytesOfMessage));
  return client;
}

const says = `its answer is larger than ${maxAnswerBytes / 2 ** 20} MB; see whether it is the right database`;

/** Called before each statement. */
export function beginAnswer(client: ClientBase): void {
  const count = counts.get(client);
  if (count !== undefined) count.bytes = 0;
}
