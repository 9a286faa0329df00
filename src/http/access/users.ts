import { hash, randomBytes } from 'node:crypto';
import type { BcryptHash } from '../../config/values/bcrypt-hash.ts';
import type { Bcrypt } from './bcrypt.ts';

/** The verdict on a request: busy if too many others wait for theirs. */
export type Admission = 'admitted' | 'refused' | 'busy';

export type Users = {
  /** Judges what an Authorization header says; at once if it said the same before. */
  readonly admit: (authorization: string | undefined) => Admission | Promise<Admission>;
  /** Goes over to other users. */
  readonly take: (users: ReadonlyMap<string, BcryptHash>) => void;
};

/**
 * Knows users by the hashes of their passwords. A hash is computed once for each password that comes, one after the other,
 * and as much is computed for an unknown name as for a known one.
 */
export function createUsers(first: ReadonlyMap<string, BcryptHash>, loadBcrypt: () => Bcrypt): Users {
  let users = first;
  let bcrypt: Bcrypt | undefined;
  const secret = randomBytes(32).toString('base64');
  const admitted = new Map<string, Admission>();
  const refused = new Map<string, Admission>();
  const underWay = new Map<string, Promise<Admission>>();
  let last: Promise<unknown> = Promise.resolve();

  /** Whoever reads our memory finds no password in it. */
  function toKey(authorization: string): string {
    return hash('sha256', secret + authorization, 'base64');
  }

  async function judge({ name, password }: Login, among: typeof users): Promise<Admission> {
    const known = among.get(name);
    const leastCost = Math.max(...[...among.values()].map(({ cost }) => cost));
    bcrypt ??= loadBcrypt();
    const isRight = await bcrypt.compare(password, known ?? toNobody(leastCost), leastCost);
    return isRight && known !== undefined ? 'admitted' : 'refused';
  }

  function remember(key: string, admission: Admission): void {
    const kept = admission === 'admitted' ? admitted : refused;
    kept.set(key, admission);
    // Only refusals can be many: of passwords that are right there is one for each user.
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
  }

  function judgeInTurn(login: Login, key: string): Promise<Admission> {
    const among = users;
    const judged = last
      .then(() => judge(login, among))
      .then((admission) => {
        if (among === users) remember(key, admission);
        return admission;
      })
      .finally(() => {
        if (underWay.get(key) === judged) underWay.delete(key);
      });
    last = judged.catch(() => undefined);
    underWay.set(key, judged);
    return judged;
  }

  return {
    admit(authorization) {
      if (users.size === 0) return 'admitted';
      if (authorization === undefined) return 'refused';
      const key = toKey(authorization);
      const known = admitted.get(key) ?? refused.get(key) ?? underWay.get(key);
      if (known !== undefined) return known;
      const login = readLogin(authorization);
      if (login === undefined) return 'refused';
      return underWay.size >= mostWaiting ? 'busy' : judgeInTurn(login, key);
    },
    take(next) {
      users = next;
      for (const judgements of [admitted, refused, underWay]) judgements.clear();
    },
  };
}

const mostKept = 1000;
const mostWaiting = 16;

type Login = { readonly name: string; readonly password: string };

/** Reads the header of Basic authentication (RFC 7617). */
function readLogin(authorization: string): Login | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]{1,4096}={0,2}) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** A hash that no password has, as far as anyone knows. */
function toNobody(cost: number): BcryptHash {
  return { cost, salt: Buffer.alloc(16, 'nobody'), digest: Buffer.alloc(23) };
}
