import { hash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { createQueue } from '../../domain/pause.ts';
import type { BcryptHash } from '../../domain/web-config.ts';
import type { Bcrypt } from './bcrypt.ts';

/** The decision about a request. `busy`: too many passwords wait for their check. */
export type Admission = 'admitted' | 'refused' | 'busy';

/** Compares passwords with hashes, one new password at a time. The check takes as long for unknown users as for known users. */
export function createUsers(first: ReadonlyMap<string, BcryptHash>, loadBcrypt: () => Bcrypt) {
  let users = first;
  let bcrypt: Bcrypt | undefined;
  const secret = randomBytes(32).toString('base64');
  const admitted = new Map<string, Judged>();
  const refused = new Map<string, Judged>();
  const underWay = new Map<string, UnderWay>();
  const oneAtATime = createQueue();

  /** Returns a hash of the header as its key, because passwords must not stay in memory. */
  function toKey(authorization: string): string {
    return hash('sha256', secret + authorization, 'base64');
  }

  async function judge({ name, password }: Login, among: typeof users): Promise<Admission> {
    const known = among.get(name);
    const minCost = Math.max(...[...among.values()].map(({ cost }) => cost));
    bcrypt ??= loadBcrypt();
    const isRight = await bcrypt.compare(password, known ?? toNobody(minCost), minCost);
    return isRight && known !== undefined ? 'admitted' : 'refused';
  }

  function remember(key: string, judged: Judged): void {
    const kept = judged.admission === 'admitted' ? admitted : refused;
    kept.set(key, judged);
    // The limit affects only refused passwords, because each user has one correct password.
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break;
      kept.delete(oldest);
    }
  }

  function judgeInTurn(login: Login, key: string, from: string): Promise<Admission> {
    const among = users;
    const { name } = login;
    const admission = oneAtATime(async () => {
      const judged = await judge(login, among);
      if (isSameUser(name, among, users)) remember(key, { name, admission: judged });
      return judged;
    }).finally(() => {
      if (underWay.get(key)?.admission === admission) underWay.delete(key);
    });
    underWay.set(key, { name, from, admission });
    return admission;
  }

  /** Reports whether a password of this address already waits. A client that guesses passwords must not block other clients. */
  function isBusy(from: string): boolean {
    return underWay.size >= maxWaiting || [...underWay.values()].some((one) => one.from === from);
  }

  return {
    /** Decides about an Authorization header from an address. Does not wait for a known header. */
    admit(authorization: string | undefined, from = ''): Admission | Promise<Admission> {
      if (users.size === 0) return 'admitted';
      if (authorization === undefined) return 'refused';
      const key = toKey(authorization);
      const known = admitted.get(key) ?? refused.get(key) ?? underWay.get(key);
      if (known !== undefined) return known.admission;
      const login = readLogin(authorization);
      if (login === undefined) return 'refused';
      return isBusy(from) ? 'busy' : judgeInTurn(login, key, from);
    },
    /** Returns the user of a header whose password was accepted before. */
    recognize: (authorization: string | undefined): string | undefined =>
      users.size === 0 || authorization === undefined ? undefined : admitted.get(toKey(authorization))?.name,
    /** Applies other users. Users with unchanged hashes stay known. */
    take(next: ReadonlyMap<string, BcryptHash>): void {
      for (const judgements of [admitted, refused, underWay]) {
        for (const [key, { name }] of judgements) if (!isSameUser(name, users, next)) judgements.delete(key);
      }
      users = next;
    },
  };
}

type Judged = { readonly name: string; readonly admission: Admission };
type UnderWay = { readonly name: string; readonly from: string; readonly admission: Promise<Admission> };
type UsersByName = ReadonlyMap<string, BcryptHash>;

function isSameUser(name: string, before: UsersByName, after: UsersByName): boolean {
  return isDeepStrictEqual(before.get(name), after.get(name));
}

const maxKept = 1000;
const maxWaiting = 16;

type Login = { readonly name: string; readonly password: string };

/** Reads the header of Basic authentication (RFC 7617). */
function readLogin(authorization: string): Login | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]{1,4096}={0,2}) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Returns a hash that matches no password, for unknown users. */
function toNobody(cost: number): BcryptHash {
  return { cost, salt: Buffer.alloc(16, 'nobody'), digest: Buffer.alloc(23) };
}
