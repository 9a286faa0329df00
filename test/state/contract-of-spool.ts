import { beforeEach, describe, expect, it } from 'vitest';
import type { SpooledTrace } from '../../src/state/spool.ts';
import type { State } from '../../src/state/state.ts';

const all = { maxBytes: 1000, maxTraces: 1000 };

/** The tests of the spool, for every engine. */
export function describeSpool(stateNow: () => State, reopen: () => Promise<void>): void {
  function spool(...spooled: SpooledTrace[]): Promise<void> {
    return stateNow().ledger.commit('prod', { spooled });
  }
  async function keys(bounds: { readonly maxBytes: number; readonly maxTraces: number }): Promise<string[]> {
    return (await stateNow().spool.next(bounds)).map(({ key }) => key);
  }

  describe('spool', () => {
    let state: State;

    beforeEach(() => {
      state = stateNow();
    });
    it('stores a trace and removes its pending document in one change', async () => {
      await state.ledger.commit('prod', { documents: [{ kind: 'pending', key: '1', body: '{}' }] });
      await state.ledger.commit('prod', {
        documents: [{ kind: 'pending', key: '1', body: undefined }],
        spooled: [toTrace('1')],
      });

      expect(await state.ledger.load('prod')).toEqual([]);
      expect(await state.spool.next(all)).toEqual([toTrace('1')]);
    });

    it('keeps a trace pending if the spool fails', async () => {
      await state.ledger.commit('prod', { documents: [{ kind: 'pending', key: '1', body: '{}' }] });
      const broken = { ...toTrace('1'), spans: 'many' as unknown as number };
      const change = { documents: [{ kind: 'pending', key: '1', body: undefined }], spooled: [broken] };

      await expect(state.ledger.commit('prod', change)).rejects.toThrow('the state cannot be written');
      expect(await state.ledger.load('prod')).toEqual([{ kind: 'pending', key: '1', body: '{}' }]);
      expect(await state.spool.size()).toMatchObject({ traces: 0, bytes: 0 });
    });

    it('keeps the first copy if a trace is spooled twice', async () => {
      await spool(toTrace('1'), { ...toTrace('1'), bytes: new Uint8Array([9]) });

      expect((await state.spool.next(all)).map(({ bytes }) => [...bytes])).toEqual([[1, 2, 3, 4]]);
      expect(await state.spool.size()).toMatchObject({ traces: 1, bytes: 4 });
    });

    it('keeps every byte', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      await spool({ ...toTrace('1'), bytes: bytes.subarray(1) });
      expect((await state.spool.next(all))[0]?.bytes).toEqual(bytes.slice(1));
    });

    it('returns the first traces of the queue within two limits', async () => {
      await spool(toTrace('1'), toTrace('2'), toTrace('3'));

      expect(await keys({ maxBytes: 1000, maxTraces: 2 })).toEqual(['1', '2']);
      expect(await keys({ maxBytes: 8, maxTraces: 10 })).toEqual(['1', '2']);
      expect(await keys({ maxBytes: 7, maxTraces: 10 })).toEqual(['1']);
      expect(await keys({ maxBytes: 1, maxTraces: 10 })).toEqual(['1']);
      expect((await state.spool.next(all, ['1', '3'])).map(({ key }) => key)).toEqual(['2']);
    });

    it('has a queue for traces and a queue for log records', async () => {
      await spool({ ...toTrace('1'), encoding: 'logs-json' }, toTrace('2'), { ...toTrace('3'), encoding: 'logs-json' });

      expect(await keys({ maxBytes: 1000, maxTraces: 1 })).toEqual(['2']);
      const records = await state.spool.next(all, ['1'], 'logs');
      expect(records.map(({ key, encoding }) => `${key} ${encoding}`)).toEqual(['3 logs-json']);
      expect(await state.spool.size()).toMatchObject({ traces: 3 });
      expect(await state.spool.sizeOfLogs()).toEqual({ traces: 2, bytes: 8 });
      await state.spool.next(all, [], 'logs');
      await state.spool.quarantine('1', { reason: 'HTTP 400', atMs: 5 }, all);
      await state.spool.next(all, [], 'logs');
      expect(await state.spool.sizeOfLogs()).toEqual({ traces: 1, bytes: 4 });
      await state.spool.remove(['2', '3']);
      expect(await keys(all)).toEqual([]);
      expect(await state.spool.next(all, [], 'logs')).toEqual([]);
      await state.spool.retry(['1']);
      expect((await state.spool.next(all, [], 'logs')).map(({ key }) => key)).toEqual(['1']);
      await spool(toTrace('4'));
      expect(await keys(all)).toEqual(['4']);
    });

    it('keeps traces in the order in which they were spooled, even if the clock is set back', async () => {
      await spool({ ...toTrace('1'), spooledAtMs: 9000 }, { ...toTrace('2'), spooledAtMs: 10 });

      expect(await keys(all)).toEqual(['1', '2']);
      expect((await state.spool.size()).oldestMs).toBe(9000);
    });

    it('removes delivered traces, and returns the size of the spool', async () => {
      const empty = { traces: 0, bytes: 0, oldestMs: undefined, quarantinedTraces: 0, quarantinedBytes: 0 };
      expect(await state.spool.size()).toEqual(empty);
      await spool(toTrace('1'), toTrace('2'), toTrace('3'));
      await state.spool.remove(['1', '3', 'unknown']);

      expect(await keys(all)).toEqual(['2']);
      expect(await state.spool.size()).toEqual({ ...empty, traces: 1, bytes: 4, oldestMs: 2000 });
    });

    it('has room while traces outside the quarantine are below both limits', async () => {
      await spool(toTrace('1'), toTrace('2'));
      expect(await state.spool.hasRoom({ maxBytes: 100, maxTraces: 2 })).toBe(false);
      expect(await state.spool.hasRoom({ maxBytes: 8, maxTraces: 100 })).toBe(false);
      expect(await state.spool.hasRoom({ maxBytes: 9, maxTraces: 3 })).toBe(true);

      await state.spool.quarantine('1', { reason: 'HTTP 400', atMs: 5 }, all);
      expect(await state.spool.hasRoom({ maxBytes: 8, maxTraces: 2 })).toBe(true);
    });

    it('quarantines, requeues and drops traces', async () => {
      await spool(toTrace('1'), toTrace('2'), toTrace('3'));
      await state.spool.quarantine('1', { reason: 'HTTP 400 too odd', atMs: 5 }, all);
      await state.spool.quarantine('2', { reason: 'HTTP 413', atMs: 6 }, all);

      expect(await keys(all)).toEqual(['3']);
      const { bytes, ...trace } = toTrace('1');
      expect(await state.spool.quarantined()).toEqual([
        { ...trace, size: bytes.length, reason: 'HTTP 400 too odd', atMs: 5 },
        expect.objectContaining({ key: '2', reason: 'HTTP 413', atMs: 6 }),
      ]);
      expect(await state.spool.size()).toMatchObject({
        traces: 1,
        bytes: 4,
        quarantinedTraces: 2,
        quarantinedBytes: 8,
      });

      expect(await state.spool.retry(['1', '3'])).toBe(1);
      expect(await keys(all)).toEqual(['1', '3']);
      // Traces that are not quarantined cannot be dropped.
      expect(await state.spool.drop(['2', '3'])).toBe(1);
      expect(await state.spool.size()).toMatchObject({
        traces: 2,
        bytes: 8,
        quarantinedTraces: 0,
        quarantinedBytes: 0,
      });
    });

    it('drops the oldest quarantined traces if there are too many', async () => {
      await spool(toTrace('1'), toTrace('2'), toTrace('3'));
      const bounds = { maxBytes: 8, maxTraces: 10 };
      expect(await state.spool.quarantine('3', { reason: 'HTTP 400', atMs: 5 }, bounds)).toEqual([]);
      expect(await state.spool.quarantine('1', { reason: 'HTTP 400', atMs: 6 }, bounds)).toEqual([]);

      expect(await state.spool.quarantine('2', { reason: 'HTTP 400', atMs: 7 }, bounds)).toEqual([
        expect.objectContaining({ key: '3', spans: 3 }),
      ]);
      expect((await state.spool.quarantined()).map(({ key }) => key)).toEqual(['1', '2']);
      expect(await state.spool.size()).toMatchObject({
        traces: 0,
        bytes: 0,
        quarantinedTraces: 2,
        quarantinedBytes: 8,
      });
    });

    it('keeps all traces across a restart', async () => {
      await spool(toTrace('1'), toTrace('2'));
      await state.spool.quarantine('1', { reason: 'HTTP 400', atMs: 5 }, all);
      await reopen();
      state = stateNow();

      expect(await keys(all)).toEqual(['2']);
      expect(await state.spool.size()).toEqual({
        traces: 1,
        bytes: 4,
        oldestMs: 2000,
        quarantinedTraces: 1,
        quarantinedBytes: 4,
      });
    });
  });
}

/** A small trace in its stored form. */
export function toTrace(key: string): SpooledTrace {
  return {
    key,
    server: 'prod',
    executionId: key,
    startedAtMs: 1000,
    spooledAtMs: 2000,
    encoding: 'protobuf',
    spans: 3,
    bytes: new Uint8Array([1, 2, 3, 4]),
  };
}
