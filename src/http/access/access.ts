import type { Socket } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { NextFunction, Request, Response } from 'express';
import type { WebConfig, WebTls } from '../../domain/web-config.ts';
import { createBcrypt } from './bcrypt.ts';
import { type Admission, createUsers } from './users.ts';

type AccessOptions = {
  readonly config: WebConfig;
  /** Paths that need no authentication, because probes request them. */
  readonly openPaths: readonly string[];
  readonly clock: { readonly ticks: () => number; readonly nextTurn: () => Promise<void> };
  /** Called for refused requests, at most once a minute for each reason. */
  readonly onRefused: (refusal: { from: string | undefined; reason: string }) => void;
};

/** Decides by certificate, request rate and password who may send requests. The rules can change at run time. */
export function createAccess(options: AccessOptions) {
  const { openPaths, clock } = options;
  let { config } = options;
  const isWithinRate = createRateLimit(clock.ticks);
  const users = createUsers(config.users, () => createBcrypt(clock.nextTurn));
  const report = createReport(options);

  function refuse({ socket }: Request, response: Response, refusal: Refusal): void {
    report({ from: socket.remoteAddress, reason: refusal.reason });
    response.status(refusal.status).set({ 'cache-control': 'no-store', ...refusal.headers });
    response.type('text/plain').send(`${refusal.text}\n`);
  }

  function judgeConnection({ socket, headers }: Request): Refusal | undefined {
    const shown = config.tls?.clientAuth.isRequested ? readCertificate(socket) : undefined;
    const reason = config.tls?.clientAuth.isRequested ? refuseCertificate(config.tls, shown) : undefined;
    if (reason !== undefined) return { status: 403, reason, text: `Refused: ${reason}.` };
    if (config.rateLimit === undefined) return undefined;
    const user = users.recognize(headers.authorization);
    const client = user === undefined ? toCertifiedClient(config, shown) : `user ${user}`;
    return isWithinRate(config.rateLimit, client) ? undefined : refusals.rate;
  }

  function settle(admission: Admission, { request, response, next }: Asked): void {
    if (admission === 'admitted') next();
    else refuse(request, response, refusals[admission]);
  }

  async function settleLate(judged: Promise<Admission>, asked: Asked): Promise<void> {
    try {
      settle(await judged, asked);
    } catch (error) {
      asked.next(error);
    }
  }

  return {
    /** The TLS of the server; undefined for plain HTTP. */
    tls: (): WebTls | undefined => config.tls,
    /** Configured headers, which replace the exporter's own. */
    headers: (): ReadonlyMap<string, string> => config.headers,
    gate: (request: Request, response: Response, next: NextFunction): void => {
      if (openPaths.includes(request.path)) {
        next();
        return;
      }
      const refusal = judgeConnection(request);
      if (refusal !== undefined) {
        refuse(request, response, refusal);
        return;
      }
      const admission = users.admit(request.headers.authorization, toNetwork(request.socket.remoteAddress));
      // Known clients, and so all scrapes except the first, are admitted without waiting.
      if (typeof admission === 'string') settle(admission, { request, response, next });
      else void settleLate(admission, { request, response, next });
    },
    /** Applies other rules. The caller must also renew the TLS of the server. */
    take: (next: WebConfig): void => {
      config = next;
      users.take(next.users);
    },
  };
}

export type Access = ReturnType<typeof createAccess>;

/** If no users are configured, the certificate identifies a client. */
function toCertifiedClient({ users }: WebConfig, shown: Shown): string | undefined {
  return users.size === 0 && shown?.isVerified === true ? `certificate ${shown.fingerprint}` : undefined;
}

type Asked = { readonly request: Request; readonly response: Response; readonly next: NextFunction };

type Refusal = {
  readonly status: number;
  readonly reason: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const refusals = {
  refused: {
    status: 401,
    reason: 'no user, or a wrong password',
    text: 'Unauthorized: a user of this exporter and the password are required.',
    headers: { 'www-authenticate': 'Basic realm="automation-exporter", charset="UTF-8"' },
  },
  busy: {
    status: 503,
    reason: 'too many passwords to check at once',
    text: 'Busy: too many passwords to check at once.',
    headers: { 'retry-after': '1' },
  },
  rate: { status: 429, reason: 'too many requests', text: 'Too many requests.', headers: { 'retry-after': '1' } },
} as const satisfies Record<string, Refusal>;

/** Reports each reason at intervals, because refused clients repeat their requests. */
function createReport({ clock, onRefused }: AccessOptions): AccessOptions['onRefused'] {
  const reported = new Map<string, number>();
  return (refusal) => {
    const before = reported.get(refusal.reason);
    if (before !== undefined && clock.ticks() - before < reportEveryMs) return;
    reported.set(refusal.reason, clock.ticks());
    onRefused(refusal);
  };
}

const reportEveryMs = 60_000;

type Wanted = Pick<WebTls, 'clientAuth' | 'allowedSans'>;
/** The certificate of a client: none, or its names and whether a known authority signed it. */
export type Shown =
  | { readonly isVerified: boolean; readonly altNames: readonly string[]; readonly fingerprint: string }
  | undefined;

/** Explains why a client with a certificate is refused. Returns undefined for an admitted client. */
export function refuseCertificate(
  { clientAuth: { isRequired, isVerified }, allowedSans }: Wanted,
  shown: Shown,
): string | undefined {
  if (shown === undefined) return isRequired ? 'a client certificate is required' : undefined;
  if (isVerified && !shown.isVerified)
    return 'the client certificate is not signed by a known authority, or has expired';
  if (allowedSans.length === 0 || shown.altNames.some((name) => allowedSans.includes(name))) return undefined;
  return 'the client certificate has none of the allowed names';
}

function readCertificate(socket: Socket): Shown {
  if (!isTls(socket)) return undefined;
  const certificate = socket.getPeerCertificate();
  if (certificate.raw === undefined) return undefined;
  return { isVerified: socket.authorized, altNames: toAltNames(certificate), fingerprint: certificate.fingerprint256 };
}

function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket;
}

/** Lists the names, IP addresses and URIs of a certificate. Node.js quotes a name that contains a comma. */
function toAltNames({ subjectaltname = '' }: Partial<PeerCertificate>): string[] {
  const parts = subjectaltname.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return parts.flatMap((part) => {
    const [, name = ''] = /^\s*(?:DNS|IP Address|email|URI):(.*)$/s.exec(part) ?? [];
    return name === '' ? [] : [name.startsWith('"') ? unquote(name) : name];
  });
}

function unquote(name: string): string {
  try {
    return String(JSON.parse(name));
  } catch {
    return '';
  }
}

/** Returns the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function toNetwork(address = ''): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address;
  const [first = '', last] = address.replace(/%.*/, '').split('::');
  const groups = first === '' ? [] : first.split(':');
  const end = last === undefined || last === '' ? [] : last.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - end.length) }, () => '0');
  return [...groups, ...zeros, ...end]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

type RateLimit = { readonly everyMs: number; readonly burst: number };

type Bucket = { readonly tokens: number; readonly seenTicks: number };

/** Permits each client a burst, and one more request in each interval. Unknown clients share one limit. */
export function createRateLimit(ticks: () => number): (limit: RateLimit, client: string | undefined) => boolean {
  const buckets = new Map<string | undefined, Bucket>();
  return (limit, client) => {
    const now = ticks();
    const { tokens, seenTicks } = buckets.get(client) ?? { tokens: limit.burst, seenTicks: now };
    const filled = Math.min(limit.burst, tokens + (now - seenTicks) / limit.everyMs);
    const isAllowed = filled >= 1;
    buckets.delete(client);
    buckets.set(client, { tokens: isAllowed ? filled - 1 : filled, seenTicks: now });
    const [oldest] = buckets.keys();
    if (buckets.size > maxBuckets) buckets.delete(oldest);
    return isAllowed;
  };
}

const maxBuckets = 1000;
