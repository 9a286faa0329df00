import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { playFault, type Series, soon, watchFaults, watchResources } from './fault-watch.ts';
import { say } from './faulty-upstream.ts';

watchResources();

/** There are four polls a second, and one request for the version. */
const allPolls = { first: 10, perSecond: 6 };

/** The server returns unexpected content. Such answers are no outage, so the circuit stays closed. */
const answersNonsense: Series = {
  automation_up: 0,
  automation_credentials_accepted: 1,
  automation_exporter_circuit_open: 0,
  'automation_exporter_collector_success{collector="system-info"}': 0,
  'automation_exporter_collector_success{collector="execution-mode"}': 0,
  'automation_exporter_collector_success{collector="healthcheck"}': 0,
  'automation_exporter_collector_success{collector="log-storage"}': 0,
  'automation_exporter_collector_enabled{collector="healthcheck",reason=""}': 1,
  automation_scheduler_thread_pool_size: 10,
};

/** The series if only one endpoint fails. */
const withoutLogStorage: Series = {
  automation_up: 1,
  automation_credentials_accepted: 1,
  automation_exporter_circuit_open: 0,
  'automation_exporter_collector_success{collector="system-info"}': 1,
  'automation_exporter_collector_success{collector="execution-mode"}': 1,
  'automation_exporter_collector_success{collector="healthcheck"}': 1,
  'automation_exporter_collector_success{collector="log-storage"}': 0,
};

const loginPage = `<!doctype html><title>Log in</title>
<form action="/j_security_check" method="post"><input name="j_username"><input name="j_password"></form>`;
const html = ['Content-Type: text/html;charset=utf-8'];
const MiB = 2 ** 20;

describe.concurrent('end-to-end/faults of answers', { timeout: 45_000 }, () => {
  it('faults/row-6: HTML login page with 200: reports the credentials as the cause', async () => {
    await watchFaults({}, async (watch) => {
      const { upstream } = watch;
      const kinds = await playFault(watch, {
        begin: () => upstream.answer(say(200, loginPage, html)),
        end: () => upstream.answer(undefined),
        shows: { ...answersNonsense, automation_credentials_accepted: 0 },
        atMost: allPolls,
      });
      expect(kinds).toEqual(['unauthorized']);
    });
  });

  it.each([
    ['faults/row-6: another HTML page with 200', say(200, '<!doctype html><title>Maintenance</title>', html), 'html'],
    ['faults/row-7: invalid JSON', say(200, '{"system": {"rundeck": '), 'decode'],
    ['faults/row-7: empty JSON', say(200, ''), 'empty'],
    ['faults/row-7: null JSON', say(200, 'null'), 'decode'],
    ['faults/row-7: wrong-shaped JSON', say(200, '[{"system": "yes", "executionMode": 1}]'), 'decode'],
    [
      'faults/row-7: JSON of wrong types',
      say(200, '{"system": [], "executionMode": {}, "enabled": {"a": 1}}'),
      'decode',
    ],
  ])('%s: is not accepted as a response', async (_row, handler, kind) => {
    await watchFaults({}, async (watch) => {
      const { upstream } = watch;
      // Only the vital endpoints are broken.
      const paths = kind === 'decode' ? /system\/(info|executions)/ : /^/;
      const others = kind === 'decode' ? 1 : 0;
      const kinds = await playFault(watch, {
        begin: () => upstream.answer(handler, paths),
        end: () => upstream.answer(undefined),
        shows: {
          ...answersNonsense,
          'automation_exporter_collector_success{collector="healthcheck"}': others,
          'automation_exporter_collector_success{collector="log-storage"}': others,
        },
        atMost: allPolls,
      });
      expect(kinds).toEqual([kind]);
    });
  });

  it('faults/row-8: huge body: is not read beyond the limit, and affects one collector', async () => {
    await watchFaults({}, async (watch) => {
      const { upstream, simulator } = watch;
      let before = 0;
      let asked = 0;
      const kinds = await playFault(watch, {
        begin: () => {
          before = upstream.sentBytes();
          simulator.control.addFault({ kind: 'huge', path: 'logstorage', bytes: 200 * MiB });
        },
        end: () => {
          asked = simulator
            .requests()
            .filter(({ path, status }) => path.endsWith('logstorage') && status === 200).length;
          simulator.control.clearFaults();
        },
        shows: withoutLogStorage,
        atMost: allPolls,
      });
      expect(kinds).toEqual(['too_large']);
      // The client reads 16 MiB; more bytes may be in the sockets.
      expect((upstream.sentBytes() - before) / asked).toBeLessThan(24 * MiB);
    });
  });

  it('faults/row-9: compression bomb: is not inflated beyond the limit, and affects one collector', async () => {
    const bomb = say(200, gzipSync(Buffer.alloc(512 * MiB, 0x20), { level: 1 }), ['Content-Encoding: gzip']);
    await watchFaults({}, async (watch) => {
      const { upstream } = watch;
      const kinds = await playFault(watch, {
        begin: () => upstream.answer(bomb, /logstorage/),
        end: () => upstream.answer(undefined),
        shows: withoutLogStorage,
        atMost: allPolls,
      });
      expect(kinds).toEqual(['too_large']);
    });
  });

  it('faults/row-12: 503 on the mode endpoint (passive): counts as a response', async () => {
    await watchFaults({ simulated: { apiVersion: 34 } }, async (watch) => {
      const kinds = await playFault(watch, {
        begin: () => watch.simulator.control.setExecutionMode('passive'),
        end: () => watch.simulator.control.setExecutionMode('active'),
        shows: {
          automation_up: 1,
          automation_credentials_accepted: 1,
          automation_exporter_circuit_open: 0,
          'automation_exporter_collector_success{collector="execution-mode"}': 1,
          'automation_execution_mode{mode="active"}': 0,
          'automation_execution_mode{mode="passive"}': 1,
        },
        atMost: allPolls,
      });
      expect(kinds).toEqual([]);
      await soon(async () =>
        expect(await watch.scrape()).toMatchObject({ 'automation_execution_mode{mode="active"}': 1 }),
      );
      const statuses = watch.simulator.requests().filter(({ path }) => path.endsWith('executions/status'));
      expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200, 503]));
    });
  });

  it('faults/row-13: metrics endpoints disabled (404): switches the collector off, without an error', async () => {
    await watchFaults({}, async (watch) => {
      let askedBefore = 0;
      const kinds = await playFault(watch, {
        begin: () => {
          askedBefore = watch.upstream.requests.filter((path) => path.endsWith('metrics/healthcheck')).length;
          watch.simulator.control.switchMetrics(false);
        },
        end: () => {
          const asked = watch.upstream.requests.filter((path) => path.endsWith('metrics/healthcheck'));
          // The clock skips the five minutes until the next request.
          expect(asked.length).toBeLessThanOrEqual(askedBefore + 2);
          watch.simulator.control.switchMetrics(true);
          watch.clockShift.ticks += 300_000;
        },
        shows: {
          automation_up: 1,
          automation_credentials_accepted: 1,
          'automation_exporter_collector_success{collector="healthcheck"}': undefined,
          'automation_exporter_collector_enabled{collector="healthcheck",reason="not_found"}': 0,
          'automation_exporter_collector_enabled{collector="healthcheck",reason=""}': undefined,
          'automation_healthcheck_healthy{check="quartz.scheduler.threadPool"}': undefined,
          'automation_exporter_collector_success{collector="log-storage"}': 1,
        },
        atMost: allPolls,
      });
      expect(kinds).toEqual([]);
    });
  });

  it('faults/row-14: unsupported version (400): reports that there is no common version', async () => {
    const body = '{"error":true,"apiversion":13,"errorCode":"api.error.api-version.unsupported","message":"no"}';
    await watchFaults({}, async (watch) => {
      const { upstream } = watch;
      const kinds = await playFault(watch, {
        begin: () => upstream.answer(say(400, body)),
        end: () => upstream.answer(undefined),
        shows: answersNonsense,
        atMost: allPolls,
      });
      expect(kinds).toEqual(['unsupported_version']);
    });
  });

  it('faults/row-14: unsupported version (400): uses the version of an older server', async () => {
    const older = await startSimulator({ scenario: 'empty', apiVersion: 36 });
    await watchFaults({}, async (watch) => {
      const { upstream, simulator } = watch;
      await watch.isWell();
      upstream.replace(older.url);
      await watch.isWell();
      await soon(async () => {
        const infos = Object.keys(await watch.scrape()).filter((name) => name.startsWith('automation_server_info{'));
        expect(infos).toEqual([expect.stringContaining('api_version="36"')]);
      });
      upstream.replace(simulator.url);
      await watch.isWell();
    });
    await older.stop();
  });
});
