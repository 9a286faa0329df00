import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { projectExecutions } from '../../src/api/endpoints/executions.ts';
import { readWindow } from '../../src/api/paging.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { playFault, type Series, soon, watchFaults, watchResources } from './fault-watch.ts';
import { say } from './faulty-upstream.ts';

watchResources();

const allPolls = { first: 10, perSecond: 6 };

const refused: Series = {
  automation_up: 0,
  automation_credentials_accepted: 0,
  automation_exporter_circuit_open: 0,
  'automation_exporter_collector_success{collector="system-info"}': 0,
  'automation_exporter_collector_success{collector="log-storage"}': 0,
  'automation_exporter_collector_enabled{collector="log-storage",reason=""}': 1,
  automation_scheduler_thread_pool_size: 10,
};

describe.concurrent('end-to-end/faults of limits, credentials and time', { timeout: 45_000 }, () => {
  it('faults/row-10: 429 with a long Retry-After: pauses for at most five minutes, not for a day', async () => {
    await watchFaults({}, async (watch) => {
      const { simulator, clockShift } = watch;
      const kinds = await playFault(watch, {
        begin: () => simulator.control.addFault({ kind: 'status', status: 429, retryAfter: '86400' }),
        end: () => {
          simulator.control.clearFaults();
          clockShift.ticks += 300_000;
        },
        shows: { ...refused, automation_credentials_accepted: 1 },
        // The limit is the number of simultaneous requests.
        atMost: { first: 4, perSecond: 0 },
      });
      expect(kinds).toEqual(['busy']);
    });
  });

  it('faults/row-11: token replaced in its file: no poll fails', async () => {
    await watchFaults({}, async (watch) => {
      const { control, token } = watch.simulator;
      const kinds = await playFault(watch, {
        begin: () => {
          control.addToken({ token: 'rotated-token-of-tests' });
          writeFileSync(join(watch.directory, 'token'), 'rotated-token-of-tests\n');
          control.revokeToken(token);
        },
        end: () => {},
        shows: {
          automation_up: 1,
          automation_credentials_accepted: 1,
          'automation_exporter_collector_success{collector="system-info"}': 1,
          'automation_exporter_collector_success{collector="log-storage"}': 1,
        },
        atMost: allPolls,
      });
      expect(kinds).toEqual(['unauthorized']);
      expect(watch.logged.filter((line) => line.includes('msg="poll failed"'))).toEqual([]);
    });
  });

  it('faults/row-11: token revoked (403): reports the refusal until it is restored', async () => {
    await watchFaults({}, async (watch) => {
      const { control, token } = watch.simulator;
      const kinds = await playFault(watch, {
        begin: () => control.revokeToken(token),
        end: () => control.addToken({ token }),
        shows: refused,
        atMost: allPolls,
      });
      expect(kinds).toEqual(['unauthorized']);
    });
  });

  it('faults/row-11: token revoked: uses a new token in its file', async () => {
    await watchFaults({}, async (watch) => {
      const { control, token } = watch.simulator;
      const kinds = await playFault(watch, {
        begin: () => {
          control.addToken({ token: 'rotated-token-of-tests' });
          control.revokeToken(token);
        },
        end: () => writeFileSync(join(watch.directory, 'token'), 'rotated-token-of-tests\n'),
        shows: refused,
        atMost: allPolls,
      });
      expect(kinds).toEqual(['unauthorized']);
    });
  });

  it('faults/row-11: 401: counts as the same refusal', async () => {
    const body = '{"error":true,"apiversion":47,"errorCode":"unauthorized","message":"no"}';
    await watchFaults({}, async (watch) => {
      const kinds = await playFault(watch, {
        begin: () => watch.upstream.answer(say(401, body)),
        end: () => watch.upstream.answer(undefined),
        shows: refused,
        atMost: allPolls,
      });
      expect(kinds).toEqual(['unauthorized']);
    });
  });

  it.each(['grow', 'shrink'])(
    'faults/row-17: pages shift while they are read (they %s): every row is read',
    async (how) => {
      const simulator = await startSimulator({ scenario: 'empty', clock: 'free' });
      const { api, seen, close } = createTestClient({ url: simulator.url, token: fixedSecret(simulator.token) });
      simulator.control.createProject('pay', ['web01']);
      const nowMs = Date.parse('2026-01-15T12:00:00Z');
      const ids = Array.from({ length: 95 }, () =>
        simulator.control.addFinished('pay', { startedAtMs: nowMs, endedAtMs: nowMs }),
      );
      if (how === 'grow') simulator.control.configure({ shiftPages: 3 });

      const found = new Set<number>();
      const path = { project: 'pay' };
      const pages = readWindow(
        ({ beginMs, endMs, max, offset }) =>
          api.get(projectExecutions, { path, query: { begin: beginMs, end: endMs, max, offset } }),
        { beginMs: nowMs, endMs: nowMs },
        { apiEndpoint: 'project-executions', endOf: ({ endedAtMs }) => endedAtMs, pageSize: 20, overlap: 5 },
      );
      for await (const { items } of pages) {
        for (const { id } of items) found.add(id);
        // Rows are deleted, so older rows move to an earlier page.
        if (how === 'shrink') simulator.control.deleteExecutions(items.slice(0, 3).map(({ id }) => id));
      }

      expect(ids.filter((id) => !found.has(id))).toEqual([]);
      // A window whose total changes is read again, but not endlessly.
      expect(seen.filter((line) => line === 'project-executions 200').length).toBeLessThanOrEqual(60);
      await close();
      await simulator.stop();
    },
  );

  it.each([600, -600])(
    'faults/row-19: clocks ±10 minutes apart: a server clock that is %i s ahead changes no result',
    async (skewSeconds) => {
      await watchFaults({}, async (watch) => {
        const { control } = watch.simulator;
        await watch.isWell();
        expect(Math.abs(skewOf(await watch.scrape()))).toBeLessThan(5);
        control.setClockSkew(skewSeconds * 1000);
        await soon(async () => expect(Math.abs(skewOf(await watch.scrape()) - skewSeconds)).toBeLessThan(5));
        await watch.isWell();
        control.setClockSkew(0);
        await soon(async () => expect(Math.abs(skewOf(await watch.scrape()))).toBeLessThan(5));
        await watch.isWell();
      });
    },
  );

  it('faults/row-19: clock steps back: polls and values continue', async () => {
    await watchFaults({}, async (watch) => {
      await watch.isWell();
      const rounds = watch.healthyRounds();
      const requests = watch.upstream.requests.length;
      watch.clockShift.nowMs = -3_600_000;

      await soon(async () => expect(watch.healthyRounds()).toBeGreaterThanOrEqual(rounds + 3));
      await watch.isWell();
      const series = await watch.scrape();
      expect(Math.abs(skewOf(series) - 3600)).toBeLessThan(5);
      const lastSeconds =
        series['automation_exporter_collector_last_success_timestamp_seconds{collector="log-storage"}'];
      expect(lastSeconds).toBeLessThan(Date.now() / 1000 - 3000);
      expect(watch.upstream.requests.length - requests).toBeLessThanOrEqual(10 * (watch.healthyRounds() - rounds + 2));

      watch.clockShift.nowMs = 0;
      await watch.isWell();
      expect(Math.abs(skewOf(await watch.scrape()))).toBeLessThan(5);
    });
  });
});

function skewOf(series: Series): number {
  return series['automation_server_clock_skew_seconds'] ?? Number.NaN;
}
