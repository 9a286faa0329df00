import { type Peer, toConnectionFault, toFaultCode } from '../api/wire/connection-fault.ts';
import type { Daemon, Login } from './find-daemon.ts';

type Question = Daemon & {
  readonly path: string;
  /** If set, the request is a POST with the value as its body. */
  readonly body?: unknown;
  /** False if the request was already redirected to another exporter. */
  readonly leadsOn?: boolean;
};

export type DaemonAnswer =
  | { readonly kind: 'answered'; readonly content: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly says: string }
  /** The daemon does not respond, or another program does. `isAbsent` is true if no program listens at the address. */
  | { readonly kind: 'unreachable'; readonly says: string; readonly isAbsent?: boolean };

/** Sends a request to the daemon over HTTP, without credentials or as one of its users. */
export async function askDaemon(question: Question): Promise<DaemonAnswer> {
  const { url, login, path, body } = question;
  try {
    const response = await fetch(`${url}${path}`, {
      // A redirect that does not lead to the owner of a server comes from a proxy.
      redirect: 'manual',
      signal: AbortSignal.timeout(limitMs),
      ...toRequest(login, body),
    });
    const type = response.headers.get('content-type') ?? '';
    const text = await response.text();
    const owner = response.status === 307 ? toOwner(response.headers.get('location') ?? '', question) : undefined;
    if (owner !== undefined) return await askDaemon({ ...question, ...owner, leadsOn: false });
    if (response.ok && type.startsWith('application/json')) return { kind: 'answered', content: JSON.parse(text) };
    if (ownRefusals.includes(response.status) && type.startsWith('text/plain')) {
      const mended = response.status === 401 && login === undefined ? howToLogIn : '';
      return { kind: 'refused', status: response.status, says: `${toLine(text)}${mended}` };
    }
    return {
      kind: 'unreachable',
      says: `HTTP ${response.status}, a status that this version of the daemon never returns here`,
    };
  } catch (error) {
    return { kind: 'unreachable', says: explain(error), isAbsent: toFaultCode(error) === 'ECONNREFUSED' };
  }
}

/**
 * Returns the exporter to which a redirect leads. Returns undefined if the path changes, or a password would be sent without
 * TLS.
 */
function toOwner(location: string, { url, login, path, leadsOn = true }: Question): Pick<Daemon, 'url'> | undefined {
  if (!leadsOn || !/^https?:/.test(location) || !location.endsWith(path)) return undefined;
  if (login !== undefined && url.startsWith('https:') && !location.startsWith('https:')) return undefined;
  return { url: location.slice(0, -path.length) };
}

const limitMs = 10_000;
const ownRefusals: readonly number[] = [400, 401, 403, 404, 409, 413, 429, 503];

const howToLogIn = '\nSet --web.username and --web.password-file';

function toRequest(login: Login | undefined, body: unknown): RequestInit {
  const headers = {
    ...(login === undefined ? {} : { authorization: toBasic(login) }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
}

function toBasic({ username, password }: Login): string {
  return `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`;
}

/** Removes control characters, because a response of another program must not control the terminal. */
function toLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength).toWellFormed()}…` : line;
}

const maxLineLength = 500;

const daemon: Peer = { name: 'daemon', caOption: 'NODE_EXTRA_CA_CERTS', certOption: 'client_auth_type' };

function explain(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${limitMs / 1000} s`;
  if (error instanceof SyntaxError) return 'a response that is not JSON';
  const { says, code } = toConnectionFault(error, daemon);
  // Errors of fetch itself have no code, for example the error for a port that it never uses.
  if (code === 'TypeError' && error instanceof Error && error.cause instanceof Error) return error.cause.message;
  return `${says} (${code})`;
}
