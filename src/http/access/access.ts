import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { WebConfig, WebTls } from '../../domain/web-config.ts';
import { createBcrypt } from './bcrypt.ts';
import { readCertificate, refuseCertificate, type Shown } from './client-certificate.ts';
import { toNetwork } from './client-network.ts';
import { createRateLimit } from './rate-limit.ts';
import { type Admission, createUsers } from './users.ts';

export type AccessOptions = {
  readonly config: WebConfig;
  /** Paths that everyone may ask for: those of probes. */
  readonly openPaths: readonly string[];
  readonly clock: { readonly ticks: () => number; readonly nextTurn: () => Promise<void> };
  /** Called with a refused request, at most once a minute for each reason. */
  readonly onRefused: (refusal: { readonly from: string | undefined; readonly reason: string }) => void;
};

/** Decides who may ask, by certificate, rate and password; the rules can change while it serves. */
export type Access = {
  /** The TLS of the server; undefined for plain HTTP. */
  readonly tls: () => WebTls | undefined;
  /** Headers that replace those of every response. */
  readonly headers: () => ReadonlyMap<string, string>;
  readonly gate: RequestHandler;
  /** Goes over to other rules; TLS of a server is renewed by its owner. */
  readonly take: (config: WebConfig) => void;
};

export function createAccess(options: AccessOptions): Access {
  const { openPaths, clock } = options;
  let { config } = options;
  const isWithinRate = createRateLimit(clock.ticks);
  const users = createUsers(config.users, () => createBcrypt(clock.nextTurn));
  const report = createReport(options);

  /** Answers a request that may not pass, and says so. */
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
    tls: () => config.tls,
    headers: () => config.headers,
    gate: (request, response, next) => {
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
      // At once for who is known: that is every scrape but the first.
      if (typeof admission === 'string') settle(admission, { request, response, next });
      else void settleLate(admission, { request, response, next });
    },
    take: (next) => {
      config = next;
      users.take(next.users);
    },
  };
}

/** A certificate makes a client known where no password is asked for. */
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

/** Reports a reason again only after a while: whoever is refused asks again and again. */
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
