/** One question to the running daemon. */
export type Question = {
  /** The daemon's address, without a slash at the end. */
  readonly url: string;
  readonly path: string;
  /** Sent with POST where it is given. */
  readonly body?: unknown;
};

export type DaemonAnswer =
  | { readonly kind: 'answered'; readonly content: unknown }
  /** It understood and says no, in a sentence. */
  | { readonly kind: 'refused'; readonly status: number; readonly says: string }
  /** The daemon does not answer, or something else does. */
  | { readonly kind: 'unreachable'; readonly says: string };

/** Asks the daemon over HTTP, as anyone on the machine can. */
export async function askDaemon({ url, path, body }: Question): Promise<DaemonAnswer> {
  try {
    const response = await fetch(`${url}${path}`, {
      // A redirect comes from something in front of the daemon.
      redirect: 'manual',
      signal: AbortSignal.timeout(limitMs),
      ...(body === undefined ? {} : toPost(body)),
    });
    const type = response.headers.get('content-type') ?? '';
    const text = await response.text();
    if (response.ok && type.startsWith('application/json')) return { kind: 'answered', content: JSON.parse(text) };
    if (ownRefusals.includes(response.status) && type.startsWith('text/plain')) {
      return { kind: 'refused', status: response.status, says: toLine(text) };
    }
    return { kind: 'unreachable', says: `HTTP ${response.status}, which this version of the daemon is not responding` };
  } catch (error) {
    return { kind: 'unreachable', says: explain(error) };
  }
}

const limitMs = 10_000;
const ownRefusals: readonly number[] = [400, 401, 403, 404, 409, 413, 429];

function toPost(body: unknown) {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Removes control characters: an answer of something else must not control the terminal. */
function toLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > longestLine ? `${line.slice(0, longestLine).toWellFormed()}…` : line;
}

const longestLine = 500;

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${limitMs / 1000} s`;
  if (error instanceof SyntaxError) return 'a response that is not JSON';
  const cause: unknown = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'the connection was refused (ECONNREFUSED); is the daemon running?';
  return code === '' ? cause.message : `the connection failed (${code})`;
}
