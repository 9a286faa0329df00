import { describe, expect, it } from 'vitest';
import type { BcryptHash } from '../../../src/domain/web-config.ts';
import { type Admission, createUsers } from '../../../src/http/access/users.ts';

type Compared = { readonly password: string; readonly cost: number; readonly minCost: number };

/** Users whose hashes are their passwords, and the computed hashes. */
function setUp(given: Readonly<Record<string, { readonly password: string; readonly cost: number }>>) {
  const compared: Compared[] = [];
  const waiting: (() => void)[] = [];
  const users = createUsers(toUsers(given), () => ({
    compare: async (password, { cost, digest }, minCost) => {
      compared.push({ password, cost, minCost });
      await new Promise<void>((resolve) => waiting.push(resolve));
      return Buffer.from(digest).toString() === password;
    },
  }));
  /** Completes the computations one by one. */
  const settle = async (judged: Admission | Promise<Admission>): Promise<Admission> => {
    const state = { isDone: false };
    const done = Promise.resolve(judged).finally(() => {
      state.isDone = true;
    });
    while (!state.isDone) {
      await new Promise(setImmediate);
      waiting.shift()?.();
    }
    return done;
  };
  return { users, compared, settle };
}

function toUsers(given: Readonly<Record<string, { readonly password: string; readonly cost: number }>>) {
  return new Map<string, BcryptHash>(
    Object.entries(given).map(([name, { password, cost }]) => [
      name,
      { cost, salt: new Uint8Array(16), digest: Buffer.from(password) },
    ]),
  );
}

const basic = (login: string): string => `Basic ${Buffer.from(login).toString('base64')}`;
const two = { prometheus: { password: 'right', cost: 10 }, old: { password: 'older', cost: 5 } };

describe('http/access/users', () => {
  it('admits users with their own password, and nobody else', async () => {
    const { users, settle } = setUp({ ...two, colons: { password: 'a:b:c', cost: 4 } });
    for (const [login, admission] of [
      ['prometheus:right', 'admitted'],
      ['old:older', 'admitted'],
      ['colons:a:b:c', 'admitted'],
      ['prometheus:wrong', 'refused'],
      ['prometheus:older', 'refused'],
      ['prometheus:', 'refused'],
      ['nobody:right', 'refused'],
      [':right', 'refused'],
      ['Prometheus:right', 'refused'],
      ['__proto__:right', 'refused'],
    ] as const)
      expect([login, await settle(users.admit(basic(login)))]).toEqual([login, admission]);
  });

  it.each([
    undefined,
    '',
    'Basic',
    'Basic ***',
    'Bearer cHJvbWV0aGV1czpyaWdodA==',
    `Basic ${Buffer.from('prometheus').toString('base64')}`,
    `Basic ${'A'.repeat(5000)}`,
  ])('refuses %s without computing a hash', (authorization) => {
    const { users, compared } = setUp(two);
    expect(users.admit(authorization)).toBe('refused');
    expect(compared).toEqual([]);
  });

  it('admits everyone if there are no users', () => {
    expect(setUp({}).users.admit(undefined)).toBe('admitted');
  });

  it('computes one hash for many simultaneous scrapes', async () => {
    const { users, compared, settle } = setUp(two);
    const both = [users.admit(basic('prometheus:right')), users.admit(basic('prometheus:right'))];
    for (const each of both) expect(await settle(each)).toBe('admitted');
    await settle(users.admit(basic('nobody:wrong')));

    for (let scrape = 0; scrape < 10; scrape += 1) {
      // A known wrong password needs no computation.
      expect(users.admit(basic('prometheus:right'))).toBe('admitted');
      expect(users.admit(basic('nobody:wrong'))).toBe('refused');
    }
    expect(compared).toHaveLength(2);
  });

  it('needs the same time for an unknown and a known name', async () => {
    const { users, compared, settle } = setUp(two);
    for (const name of ['prometheus', 'old', 'nobody']) await settle(users.admit(basic(`${name}:wrong`)));
    // A cheap hash is followed by another hash, up to the highest cost.
    expect(compared).toEqual([
      { password: 'wrong', cost: 10, minCost: 10 },
      { password: 'wrong', cost: 5, minCost: 10 },
      { password: 'wrong', cost: 10, minCost: 10 },
    ]);
  });

  it('responds "busy" to a client that guesses passwords', async () => {
    const { users, settle } = setUp(two);
    await settle(users.admit(basic('prometheus:right')));
    const guesses = Array.from({ length: 20 }, (_, index) =>
      users.admit(basic(`prometheus:${index}`), `10.0.0.${index}`),
    );

    expect(guesses.slice(16)).toEqual(['busy', 'busy', 'busy', 'busy']);
    expect(users.admit(basic('prometheus:right'))).toBe('admitted');
    for (const guess of guesses.slice(0, 16)) expect(await settle(guess)).toBe('refused');
  });

  it('admits known users without delay while other clients guess passwords', async () => {
    const { users, compared, settle } = setUp(two);
    await settle(users.admit(basic('prometheus:right')));
    for (let guess = 0; guess < 1100; guess += 1) await settle(users.admit(basic(`prometheus:${guess}`)));
    const before = compared.length;
    expect(users.admit(basic('prometheus:right'))).toBe('admitted');
    expect(compared.length).toBe(before);
  });

  it('answers busy only to the address that guesses passwords', async () => {
    const { users, settle } = setUp(two);
    const guess = users.admit(basic('prometheus:guess'), '10.0.0.1');
    expect(users.admit(basic('prometheus:another'), '10.0.0.1')).toBe('busy');
    const scrape = users.admit(basic('prometheus:right'), '10.0.0.2');

    expect(await settle(guess)).toBe('refused');
    expect(await settle(scrape)).toBe('admitted');
    expect(await settle(users.admit(basic('prometheus:another'), '10.0.0.1'))).toBe('refused');
  });

  it('admits users with unchanged hashes without delay after a reload', async () => {
    const { users, compared, settle } = setUp(two);
    await settle(users.admit(basic('prometheus:right')));
    await settle(users.admit(basic('nobody:guess')));
    const underWay = users.admit(basic('old:older'), '10.0.0.1');
    users.take(toUsers({ ...two, new: { password: 'new', cost: 4 } }));

    expect(await settle(underWay)).toBe('admitted');
    for (let guess = 0; guess < 16; guess += 1) void users.admit(basic(`old:${guess}`), `10.0.0.${guess}`);
    const before = compared.length;
    expect(users.admit(basic('prometheus:right'))).toBe('admitted');
    expect(users.admit(basic('old:older'))).toBe('admitted');
    expect(users.admit(basic('nobody:guess'))).toBe('refused');
    expect(users.recognize(basic('prometheus:right'))).toBe('prometheus');
    expect(users.recognize(basic('nobody:guess'))).toBe(undefined);
    expect(compared.length).toBe(before);
  });

  it('checks a password again if a reload changed its hash during the check', async () => {
    const { users, settle } = setUp(two);
    const underWay = users.admit(basic('prometheus:right'));
    users.take(toUsers({ ...two, prometheus: { password: 'new', cost: 4 } }));

    expect(await settle(underWay)).toBe('admitted');
    expect(users.recognize(basic('prometheus:right'))).toBe(undefined);
    expect(await settle(users.admit(basic('prometheus:right')))).toBe('refused');
  });

  it('applies changed users immediately', async () => {
    const { users, settle } = setUp(two);
    await settle(users.admit(basic('prometheus:right')));
    expect(await settle(users.admit(basic('prometheus:new')))).toBe('refused');
    users.take(toUsers({ prometheus: { password: 'new', cost: 4 } }));

    expect(await settle(users.admit(basic('prometheus:right')))).toBe('refused');
    expect(await settle(users.admit(basic('prometheus:new')))).toBe('admitted');
    users.take(new Map());
    expect(users.admit(undefined)).toBe('admitted');
  });
});
