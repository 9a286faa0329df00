import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import type { State } from '../../../src/state/state.ts';
import { createQuarantine } from '../../../src/tracing/deliver/quarantine.ts';
import { makeTrace, makeTraces } from './made-traces.ts';

let state: State;
const events: string[] = [];

beforeEach(async () => {
  state = openSqliteState({ memory: true });
  events.length = 0;
  await state.ledger.commit('prod', { spooled: makeTraces(4) });
  for (const [index, key] of ['prod/2', 'prod/3'].entries()) {
    const why = { reason: 'HTTP 400: bad span', atMs: 3000 + index };
    await state.spool.quarantine(key, why, { maxBytes: 1e6, maxTraces: 10 });
  }
});
afterEach(() => state.close());

function create(spool: Pick<typeof state.spool, 'quarantined' | 'retry' | 'drop'> = state.spool) {
  const rejected = (reason: string, spans: number): unknown => events.push(`${reason} ${spans}`);
  const handled = (action: string, traces: number): unknown => events.push(`${action} ${traces}`);
  return createQuarantine({ spool, wake: () => events.push('woken'), observe: { rejected, handled } });
}

async function left(): Promise<string[]> {
  return (await state.spool.quarantined()).map(({ key }) => key);
}

describe('tracing/deliver/quarantine', () => {
  it('lists quarantined traces by name', async () => {
    const listed = (await create().list()).map(({ name, spans, reason, atMs }) => [name, spans, reason, atMs]);
    expect(listed).toEqual([
      ['prod/2', 3, 'HTTP 400: bad span', 3000],
      ['prod/3', 3, 'HTTP 400: bad span', 3001],
    ]);
  });

  it('puts named traces back into the queue', async () => {
    expect(await create().retry(['prod/3'])).toEqual({ traces: 1 });
    expect(await left()).toEqual(['prod/2']);
    expect((await state.spool.next({ maxBytes: 1e6, maxTraces: 9 })).map(({ key }) => key)).toEqual([
      'prod/1',
      'prod/3',
      'prod/4',
    ]);
    expect(events).toEqual(['retry 1', 'woken']);
  });

  it('counts the spans of dropped traces', async () => {
    expect(await create().drop('all')).toEqual({ traces: 2 });
    expect(await left()).toEqual([]);
    expect(await state.spool.size()).toMatchObject({ traces: 2, quarantinedTraces: 0, quarantinedBytes: 0 });
    expect(events).toEqual(['dropped 3', 'dropped 3', 'drop 2', 'woken']);
  });

  it('changes nothing if one of the traces is not quarantined', async () => {
    const asked = ['prod/2', 'prod/1', 'test/2'];
    expect(await create().drop(asked)).toEqual({ unknown: ['prod/1', 'test/2'] });
    expect(await left()).toEqual(['prod/2', 'prod/3']);
    expect(events).toEqual([]);
  });

  it('counts each trace once if two calls run at the same time', async () => {
    const quarantined = create();
    const answers = await Promise.all([
      quarantined.drop('all'),
      quarantined.drop('all'),
      quarantined.retry(['prod/2']),
    ]);
    expect(answers).toEqual([{ traces: 2 }, { traces: 0 }, { unknown: ['prod/2'] }]);
    expect(events).toEqual(['dropped 3', 'dropped 3', 'drop 2', 'woken', 'drop 0', 'woken']);
  });

  it('continues after a failed write of the state', async () => {
    let faults = 1;
    const drop = async (keys: readonly string[]): Promise<number> => {
      if (faults-- > 0) throw new Error('database or disk is full');
      return state.spool.drop(keys);
    };
    const quarantined = create({ ...state.spool, drop });
    await expect(quarantined.drop('all')).rejects.toThrow('database or disk is full');
    expect(await quarantined.drop('all')).toEqual({ traces: 2 });
    expect(events).toEqual(['dropped 3', 'dropped 3', 'drop 2', 'woken']);
  });

  it('selects both traces of an id that a server used twice', async () => {
    const again = makeTrace(2, { maker: 'after the ids began anew' });
    await state.ledger.commit('prod', { spooled: [{ ...again, key: 'another 2' }] });
    await state.spool.quarantine('another 2', { reason: 'HTTP 400', atMs: 4000 }, { maxBytes: 1e6, maxTraces: 10 });
    expect(await create().retry(['prod/2'])).toEqual({ traces: 2 });
    expect(await left()).toEqual(['prod/3']);
  });
});
