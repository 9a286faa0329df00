import { describe, expect, it } from 'vitest';
import { parseBcryptHash } from '../../../src/config/values/web-values.ts';
import { computeStart, createBcrypt } from '../../../src/http/access/bcrypt.ts';

/** The crypt function of a C library made these hashes. */
const known = [
  ['', '$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s.'],
  ['a', '$2b$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe'],
  ['U*U', '$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['correct horse battery staple ü€', '$2y$04$abcdefghijklmnopqrstuuQqp2ijbqy7RhfpDwOmcLbiuAc8Qiwiy'],
  ['x'.repeat(80), '$2b$05$CCCCCCCCCCCCCCCCCCCCC.D7RDOYXakZhsFmh/LdqQNx0kQ424AFS'],
  ['ÿ'.repeat(40), '$2y$07$zzzzzzzzzzzzzzzzzzzzze2UkhVVPDaAuSGu8ZA4DDNtnzlQ0U.xO'],
] as const;

/** Counts the turns of the event loop. */
function setUp() {
  let turns = 0;
  const bcrypt = createBcrypt(async () => {
    turns += 1;
  });
  const compare = (password: string, text: string, minCost = 4): Promise<boolean> => {
    const hash = parseBcryptHash(text);
    if (hash === undefined) throw new Error(`${text} is no hash`);
    return bcrypt.compare(password, hash, minCost);
  };
  return { compare, turns: () => turns };
}

describe('http/access/bcrypt', () => {
  it.each(known)('recognizes the password %j by its hash', async (password, hash) => {
    const { compare } = setUp();
    expect(await compare(password, hash)).toBe(true);
    expect(await compare(`${password.slice(0, 10)}!`, hash)).toBe(false);
    expect(await compare(password, hash.replace(/.{5}$/, '.....'))).toBe(false);
  });

  it('uses only the first 72 bytes of a password, as other implementations do', async () => {
    const { compare } = setUp();
    const [, hash] = known[4];
    expect(await compare('x'.repeat(72), hash)).toBe(true);
    expect(await compare('x'.repeat(71), hash)).toBe(false);
  });

  it('gives other tasks a turn of the event loop every few milliseconds', async () => {
    const { compare, turns } = setUp();
    await compare('a', known[1][1]);
    expect(turns()).toBe(2);
  });

  it('takes the same time for a cheap and an expensive hash', async () => {
    const { compare, turns } = setUp();
    await compare('wrong', known[3][1], 9);
    expect(turns()).toBe(16);
  });

  it('starts with the digits of pi, as bcrypt requires', () => {
    const [first, ...others] = [...computeStart(1042)].map((word) => (word >>> 0).toString(16));
    expect([first, others[17], others.at(-1)]).toEqual(['243f6a88', 'd1310ba6', '3ac372e6']);
  });

  it.each([
    '$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    '$2y$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    '$2y$5$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    '$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe',
    'prometheus:$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    'secret',
  ])('rejects %s as a hash', (text) => {
    expect(parseBcryptHash(text)).toBeUndefined();
  });
});
