import { describe, expect, it } from 'vitest';
import type { SimulatorOptions } from '../../../simulator/simulator.ts';
import { ask, asService, startSmall } from '../caller.ts';
import { anyNumber } from './row.ts';

// metrics/metrics (A 2.5, J 1): the installation has run for 100 seconds.
describe('simulator/documents/metrics-data', () => {
  it('has the five maps of the document, and every kind of gauge', async () => {
    const data = await read({ dialect: 'service' });
    expect(Object.keys(data)).toEqual(['version', 'gauges', 'counters', 'histograms', 'meters', 'timers']);
    expect(data.gauges).toEqual({
      'dataSource.connection.pingTime': { value: 1 },
      'service.scheduler.quartz.runningExecutions': { value: 0 },
      'service.services.AuthorizationService.sourceCache.hitRate': { value: 0.97 },
      'service.services.NodeService.nodeCache.hitRate': { value: null },
      'service.services.ProjectManagerService.fileCache.loadExceptionRate': { value: 'NaN' },
      'broken.gauge': { error: 'The gauge could not be read' },
    });
    expect(data.counters).toEqual({
      'service.scheduler.quartz.scheduledJobs': { count: 1 },
      'service.services.LogFileStorageService.storageRequests.succeeded': { count: 2 },
      'service.services.LogFileStorageService.storageRequests.failed': { count: 0 },
      'service.services.LogFileStorageService.storageRequests.total': { count: 2 },
      'service.services.LogFileStorageService.storageRequests.retries': { count: 0 },
      'service.services.LogFileStorageService.storageRequests.queued': { count: 0 },
      'service.services.LogFileStorageService.storageRequests.running': { count: 0 },
    });
    expect(data.histograms).toEqual({});
    expect(data.meters['service.services.ExecutionService.executionStartMeter']).toEqual({
      count: 0,
      m15_rate: 0,
      m5_rate: 0,
      m1_rate: 0,
      mean_rate: 0,
      units: 'events/second',
    });
  });

  it('measures in seconds up to 5.x, with a name for each project', async () => {
    const { timers } = await read({ dialect: 'rundeck' });
    expect(timers['rundeck.services.NodeService.project.pay.loadNodes']).toEqual(timer(1, 'seconds'));
    expect(Object.keys(timers)).toEqual([
      'rundeck.api.requests.requestTimer',
      'rundeck.web.requests.requestTimer',
      'rundeck.quartzjobs.ExecutionJob.executionTimer',
      'rundeck.services.NodeService.project.pay.loadNodes',
    ]);
  });

  it('measures in nanoseconds from 6.0, and counts logins and refused requests', async () => {
    const { timers, counters } = await read({ dialect: 'rundeck', apiVersion: 58 }, false);
    expect(timers['rundeck.services.NodeService.project.pay.loadNodes']).toEqual(timer(1e9, 'nanoseconds'));
    expect(counters).toMatchObject({
      'userLogin.success': { count: 0 },
      'userLogin.failure': { count: 0 },
      'userLogout.success': { count: 0 },
      'apiAuthorization.success': { count: 1 },
      'apiAuthorization.failure': { count: 0 },
    });
  });

  it('has the size of the thread pool only in later 5.x', async () => {
    const sizes = [];
    for (const options of [{ apiVersion: 47 }, { apiVersion: 58, release: '5.20.0' }, { apiVersion: 58 }]) {
      const { gauges } = await read(options, false);
      sizes.push(gauges['rundeck.scheduler.quartz.threadPoolSize']);
    }
    expect(sizes).toEqual([undefined, { value: 10 }, { value: 10 }]);
  });

  it('fails as a whole on 6.0 if one gauge cannot be read', async () => {
    const simulator = await startSmall({ apiVersion: 58 });
    simulator.control.switchMetrics(true);
    simulator.control.configure({ brokenGauges: ['broken.gauge'] });
    const reply = await ask(simulator, 'api/58/metrics/metrics');
    await simulator.stop();
    expect([reply.status, reply.text]).toEqual([500, '{"error":"A server error occurred"}']);
  });
});

type Data = Readonly<Record<'gauges' | 'counters' | 'histograms' | 'meters' | 'timers', Record<string, unknown>>>;

async function read(options: SimulatorOptions, broken = true): Promise<Data> {
  const simulator = await startSmall(options);
  simulator.control.switchMetrics(true);
  simulator.control.configure({ brokenGauges: broken ? ['broken.gauge'] : [] });
  simulator.advance(100_000);
  const reply = await ask(
    simulator,
    `api/${options.apiVersion ?? 47}/metrics/metrics`,
    options.dialect === 'service' ? asService(simulator) : {},
  );
  await simulator.stop();
  // This cast is safe: a test that reads a field fails if the response lacks the field.
  return reply.json as Data;
}

/** Three requests of 4 ms in 100 seconds; `unit` is the number of time units in a second. */
function timer(unit: number, durationUnits: string) {
  const close = (seconds: number): unknown => expect.closeTo(seconds * unit, 6);
  return {
    count: 3,
    max: close(0.016),
    mean: close(0.004),
    min: anyNumber,
    p50: close(0.004),
    p75: close(0.0048),
    p95: close(0.008),
    p98: close(0.01),
    p99: close(0.012),
    p999: close(0.016),
    stddev: close(0.0008),
    m15_rate: 0.03,
    m5_rate: 0.03,
    m1_rate: 0.03,
    mean_rate: 0.03,
    duration_units: durationUnits,
    rate_units: 'calls/second',
  };
}
