import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import { FencedError, type SharedState, UnansweredError } from '../../src/state/shared-state.ts';
import { startChild } from '../support/child.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';
import { toTrace } from './contract-of-spool.ts';

describeWithTools('state/postgres, fenced', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let schemas = 0;
  let schema: string;
  const opened: SharedState[] = [];

  beforeAll(async () => {
    server = await startPostgres(postgresql);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(opened.map(({ close }) => close()));
    await server.stop();
  }, 60_000);
  beforeEach(() => {
    schemas += 1;
    schema = `fence_${schemas}`;
  });

  async function open(owner: string, port = server.port): Promise<SharedState> {
    const settings = { ...toSettings({ ...server, port }, schema), statementTimeoutMs: 9000 };
    const shared = await openPostgresState({
      settings,
      replica: { owner, address: `${owner}:9720` },
      clock: systemClock,
      units: ['prod'],
    });
    opened.push(shared);
    return shared;
  }

  it('gives a unit to one replica at a time', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const { isOurs, lease } = await a.leases.acquire('prod', 60_000);
    const { remainingMs, ...rest } = lease;
    expect({ isOurs, rest }).toEqual({
      isOurs: true,
      rest: { unit: 'prod', owner: 'a', address: 'a:9720', epoch: 1, commits: 0 },
    });
    expect(remainingMs).toBeGreaterThan(50_000);
    expect(remainingMs).toBeLessThanOrEqual(60_000);
    expect(await b.leases.acquire('prod', 60_000)).toMatchObject({ isOurs: false, lease: { owner: 'a', epoch: 1 } });
    expect(await a.leases.acquire('prod', 60_000)).toMatchObject({ isOurs: true, lease: { owner: 'a', epoch: 2 } });
    expect(await b.leases.renew('prod', 2, 60_000)).toBe(false);
    expect(await a.leases.renew('prod', 1, 60_000)).toBe(false);
    expect(await a.leases.renew('prod', 2, 60_000)).toBe(true);

    await b.leases.release('prod', 2);
    expect(await b.leases.acquire('prod', 60_000)).toMatchObject({ isOurs: false });
    await a.leases.release('prod', 2);
    expect((await b.leases.list()).map(({ owner, remainingMs }) => [owner, remainingMs <= 0])).toEqual([['a', true]]);
    expect(await b.leases.acquire('prod', 60_000)).toMatchObject({ isOurs: true, lease: { owner: 'b', epoch: 3 } });
  });

  it('uses no epoch twice, even after the lease was deleted', async () => {
    const a = await open('a');
    const first = await a.leases.acquire('prod', 60_000);
    await server.query(`DELETE FROM ${schema}.lease`);
    await expect(a.owned('prod', first.lease).remember(memory, { mode: 'active' })).rejects.toThrow(
      'epoch 1 no longer owns prod: nothing was written',
    );
    expect(await a.leases.renew('prod', 1, 60_000)).toBe(false);
    expect(await a.leases.acquire('prod', 60_000)).toMatchObject({ isOurs: true, lease: { epoch: 2 } });
  });

  it('gives a replica a new epoch even if the database lost the last one', async () => {
    const a = await open('a');
    for (let n = 0; n < 3; n += 1) await a.leases.acquire('prod', 60_000);
    await server.query(`UPDATE ${schema}.lease SET epoch = 1; UPDATE ${schema}.unit SET last_epoch = 1`);
    expect(await a.leases.acquire('prod', 60_000, 3)).toMatchObject({ isOurs: true, lease: { epoch: 4 } });
    await server.query(`DELETE FROM ${schema}.lease; DELETE FROM ${schema}.unit`);
    expect(await a.leases.acquire('prod', 60_000, 4)).toMatchObject({ isOurs: true, lease: { epoch: 5 } });
  });

  it('returns the address and the configuration of an owner', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const shown = async () =>
      (await b.leases.list()).map(({ owner, configuration, address }) => [owner, configuration, address]);
    await a.leases.acquire('prod', 60_000);
    expect(await shown()).toEqual([['a', undefined, 'a:9720']]);
    a.leases.configure('first', 'http://a:2');
    await a.leases.renew('prod', 1, 60_000);
    expect(await shown()).toEqual([['a', 'first', 'http://a:2']]);
    a.leases.configure('second', 'http://a:3');
    await a.leases.acquire('prod', 60_000);
    expect(await shown()).toEqual([['a', 'second', 'http://a:3']]);
    await server.query(`UPDATE ${schema}.lease SET owner = 'of an older release', epoch = 3`);
    expect(await shown()).toEqual([['of an older release', undefined, 'http://a:3']]);
  });

  it('renews a lease immediately while a wait for locked units is in progress', async () => {
    const a = await open('a');
    for (const unit of ['prod', 'x', 'y']) await a.leases.acquire(unit, 60_000);
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', password: server.password });
    await client.connect();
    await client.query(`BEGIN; SELECT 1 FROM ${schema}.lease WHERE unit IN ('x', 'y') FOR SHARE`);
    const order: string[] = [];
    const acquired = ['x', 'y'].map(async (unit) => {
      await a.leases.acquire(unit, 60_000);
      order.push(unit);
    });
    order.push(`renewed: ${await a.leases.renew('prod', 1, 60_000)}`);
    await client.query('COMMIT');
    await client.end();
    await Promise.all(acquired);
    expect(order[0]).toBe('renewed: true');
  }, 30_000);

  it('renews a lease while its own long write is in progress', async () => {
    const a = await open('a');
    const { lease } = await a.leases.acquire('prod', 60_000);
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', password: server.password });
    await client.connect();
    await client.query(`BEGIN; SELECT 1 FROM ${schema}.unit FOR UPDATE`);
    const order: string[] = [];
    const written = a
      .owned('prod', lease)
      .ledger.commit('prod', { entries: [entry(1)] })
      .then(() => order.push('written'));
    await eventually(async () => {
      const waiting = await server.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE 'UPDATE unit SET commits%'`);
      expect(waiting).toHaveLength(1);
    });
    const renewed = a.leases.renew('prod', 1, 60_000).then((isOurs) => order.push(`renewed: ${isOurs}`));
    const taken = (async () => {
      await renewed;
      const b = await open('b');
      await server.query(`UPDATE ${schema}.lease SET expires = clock_timestamp() - interval '1 second'`);
      const { isOurs } = await b.leases.acquire('prod', 60_000);
      order.push(`taken: ${isOurs}`);
    })();
    await eventually(async () => {
      const waiting = await server.query(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%lease%'`,
      );
      expect(waiting).toHaveLength(1);
    });
    await client.query('COMMIT');
    await client.end();
    await Promise.all([written, renewed, taken]);
    expect(order).toEqual(['renewed: true', 'written', 'taken: true']);
  }, 30_000);

  it('lets one of many simultaneous replicas acquire a unit', async () => {
    const replicas = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => open(owner)));
    const answers = await Promise.all(replicas.map(({ leases }) => leases.acquire('prod', 60_000)));
    expect(answers.filter(({ isOurs }) => isOurs)).toHaveLength(1);
    expect(new Set(answers.map(({ lease }) => `${lease.owner} ${lease.epoch}`)).size).toBe(1);
  });

  it('writes nothing for a former owner', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const old = a.owned('prod', (await a.leases.acquire('prod', 60_000)).lease);
    await old.ledger.commit('prod', { entries: [entry(1)], spooled: [trace] });
    await a.leases.release('prod', 1);
    const taken = await b.leases.acquire('prod', 60_000);
    expect(taken.lease.commits).toBe(1);
    const young = b.owned('prod', taken.lease);

    const writes = [
      () => old.ledger.commit('prod', { entries: [entry(2)] }),
      () => old.remember(memory, { mode: 'active' }),
      () => old.spool.remove(['1']),
      () => old.spool.quarantine('1', { reason: 'HTTP 400', atMs: 5 }, { maxBytes: 10, maxTraces: 10 }),
    ];
    for (const write of writes) {
      await expect(write()).rejects.toThrow(
        new FencedError('epoch 1 no longer owns prod: nothing was written', 'taken'),
      );
    }
    await young.ledger.commit('prod', { entries: [entry(3)] });
    expect((await young.ledger.find('prod', [1, 2, 3])).map(({ id }) => id)).toEqual([1, 3]);
    expect(await young.spool.size()).toMatchObject({ traces: 1 });
    expect(await young.recall(memory)).toBeUndefined();
  });

  it('rejects the commit of a suspended process after a takeover', async () => {
    const b = await open('b');
    const script = fileURLToPath(new URL('../support/paused-owner.ts', import.meta.url));
    const paused = startChild(process.execPath, [script, String(server.port), server.password, schema]);
    onTestFinished(() => paused.kill('SIGKILL'));
    await paused.waitFor(/within the transaction/);
    const taken = await eventually(async () => {
      const answer = await b.leases.acquire('prod', 60_000);
      if (!answer.isOurs) throw new Error('it is not free yet');
      return answer;
    });
    const young = b.owned('prod', taken.lease);
    await young.ledger.commit('prod', { entries: [entry(7), entry(9)] });

    paused.kill('SIGCONT');
    await paused.ended;
    expect(paused.output()).toMatch(/first: StateError: the state cannot be written: /);
    expect(paused.output()).toMatch(/then: FencedError: epoch 1 no longer owns prod: nothing was written/);
    expect((await young.ledger.find('prod', [7, 8, 9])).map(({ id }) => id)).toEqual([7, 9]);
    expect(await young.ledger.size('prod')).toBe(2);
  });

  it('writes nothing to a database that has lost its last commits', async () => {
    const a = await open('a');
    const { lease } = await a.leases.acquire('prod', 60_000);
    const owned = a.owned('prod', lease);
    await owned.ledger.commit('prod', { entries: [entry(1)] });
    await owned.ledger.commit('prod', { entries: [entry(2)] });
    // A standby that was behind has the lease without the last commit.
    await server.query(`UPDATE ${schema}.unit SET commits = 1; DELETE FROM ${schema}.ledger_entry WHERE id = 2`);

    const fenced = 'the database has 1 commits of prod instead of 2: nothing was written';
    await expect(owned.ledger.commit('prod', { entries: [entry(3)] })).rejects.toThrow(
      new FencedError(fenced, 'behind'),
    );
    const again = a.owned('prod', (await a.leases.acquire('prod', 60_000)).lease);
    await again.ledger.commit('prod', { entries: [entry(2), entry(3)] });
    expect(await again.ledger.size('prod')).toBe(3);
  });

  it('writes nothing after a commit without a response', async () => {
    const proxy = await startCutProxy(server.port);
    const a = await open('a', proxy.port);
    const owned = a.owned('prod', (await a.leases.acquire('prod', 60_000)).lease);
    await owned.ledger.commit('prod', { entries: [entry(1)] });

    proxy.cutAfter('COMMIT\0');
    await expect(owned.ledger.commit('prod', { entries: [entry(2)] })).rejects.toThrow(UnansweredError);
    await expect(owned.ledger.commit('prod', { entries: [entry(3)] })).rejects.toThrow(FencedError);
    const { lease } = await a.leases.acquire('prod', 60_000);
    expect(lease).toMatchObject({ epoch: 2, commits: 2 });
    const again = a.owned('prod', lease);
    expect((await again.ledger.find('prod', [1, 2, 3])).map(({ id }) => id)).toEqual([1, 2]);

    proxy.cutAfter('INSERT INTO ledger_entry');
    await expect(again.ledger.commit('prod', { entries: [entry(3)] })).rejects.toThrow(
      'the state cannot be written: the connection to 127.0.0.1',
    );
    await again.ledger.commit('prod', { entries: [entry(3)] });
    expect(await again.ledger.size('prod')).toBe(3);
    await proxy.close();
  });
});

const memory = { server: 'prod', collector: 'execution-mode' };

const trace = toTrace('1');

function entry(id: number) {
  return { project: 'pay', id, startedAtMs: 1, endedAtMs: 100 };
}
