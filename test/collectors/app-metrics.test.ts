import { describe, expect, it } from 'vitest';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';

const METRICS = 'metrics/metrics';

describe('collectors/app-metrics', () => {
  it('shows counters and timers of release 5, in seconds', async () => {
    const body = `{"version":"4.0.0",
      "gauges":{"dataSource.connection.pingTime":{"value":1},"rundeck.services.AuthorizationService.sourceCache.hitRate":{"value":0.9974358974358974}},
      "counters":{"rundeck.scheduler.quartz.scheduledJobs":{"count":3}},
      "histograms":{},
      "meters":{"rundeck.services.ExecutionService.executionStartMeter":{"count":14,"m15_rate":0.1,"m1_rate":0.2,"m5_rate":0.3,"mean_rate":0.4,"units":"events/second"}},
      "timers":{"rundeck.api.requests.requestTimer":{"count":71,"max":0.5,"mean":0.0125,"min":0.001,"p50":0.012,"p75":0.013,"p95":0.014,"p98":0.015,"p99":0.016,"p999":0.017,"stddev":0.01,"m15_rate":0.1,"m1_rate":0.2,"m5_rate":0.3,"mean_rate":0.4,"duration_units":"seconds","rate_units":"calls/second"}}}`;

    expect(await scrape({ [METRICS]: { body } })).toEqual(shown`
        # TYPE automation_app_duration_seconds summary
        automation_app_duration_seconds_count{server="prod",name="rundeck.api.requests.requestTimer",project=""} 71
        automation_app_duration_seconds{server="prod",name="rundeck.api.requests.requestTimer",project="",quantile="0.5"} 0.012
        automation_app_duration_seconds{server="prod",name="rundeck.api.requests.requestTimer",project="",quantile="0.75"} 0.013
        automation_app_duration_seconds{server="prod",name="rundeck.api.requests.requestTimer",project="",quantile="0.95"} 0.014
        automation_app_duration_seconds{server="prod",name="rundeck.api.requests.requestTimer",project="",quantile="0.98"} 0.015
        automation_app_duration_seconds{server="prod",name="rundeck.api.requests.requestTimer",project="",quantile="0.99"} 0.016
        automation_app_duration_seconds{server="prod",name="rundeck.api.requests.requestTimer",project="",quantile="0.999"} 0.017
        # TYPE automation_app_events_total counter
        automation_app_events_total{server="prod",name="rundeck.services.ExecutionService.executionStartMeter",project=""} 14
        # TYPE automation_app_value gauge
        automation_app_value{server="prod",name="dataSource.connection.pingTime",project=""} 1
        automation_app_value{server="prod",name="rundeck.scheduler.quartz.scheduledJobs",project=""} 3
        automation_app_value{server="prod",name="rundeck.services.AuthorizationService.sourceCache.hitRate",project=""} 0.9974358974358974`);
  });

  it.each([
    ['seconds', '0.0125'],
    ['milliseconds', '12.5'],
    ['microseconds', '12500'],
    // Release 6 answers with nanoseconds.
    ['nanoseconds', '12500000'],
  ])('reads a timer in %s', async (unit, p50) => {
    const body = `{"version":"4.0.0","timers":{"t":{"count":2,"p50":${p50},"duration_units":"${unit}","rate_units":"calls/second"}}}`;
    expect(await scrape({ [METRICS]: { body } })).toEqual(shown`
        # TYPE automation_app_duration_seconds summary
        automation_app_duration_seconds_count{server="prod",name="t",project=""} 2
        automation_app_duration_seconds{server="prod",name="t",project="",quantile="0.5"} 0.0125`);
  });

  it.each([
    ['a unit that nobody knows', '{"count":2,"p50":1,"duration_units":"fortnights"}'],
    ['no unit', '{"count":2,"p50":1}'],
    ['quantiles that are no numbers', '{"count":2,"p50":null,"p75":"fast","duration_units":"seconds"}'],
  ])('counts a timer with %s and publishes no duration for the timer', async (_name, timer) => {
    expect(await scrape({ [METRICS]: { body: `{"version":"4.0.0","timers":{"t":${timer}}}` } })).toEqual(shown`
        # TYPE automation_app_duration_seconds summary
        automation_app_duration_seconds_count{server="prod",name="t",project=""} 2`);
  });

  it('shows no quantiles of a timer that never ran', async () => {
    const body =
      '{"version":"4.0.0","timers":{"t":{"count":0,"p50":0,"p999":0,"duration_units":"seconds"}},"histograms":{"h":{"count":0,"p50":0}}}';
    expect(await scrape({ [METRICS]: { body } })).toEqual(shown`
        # TYPE automation_app_distribution summary
        automation_app_distribution_count{server="prod",name="h",project=""} 0
        # TYPE automation_app_duration_seconds summary
        automation_app_duration_seconds_count{server="prod",name="t",project=""} 0`);
  });

  it('shows the documented shape in the service dialect', async () => {
    const answers = {
      [METRICS]: {
        body: '{"version":"4.0.0","gauges":{"g":{"value":2}},"counters":{},"histograms":{},"meters":{},"timers":{}}',
      },
    };
    expect(await scrapeCollector('app-metrics', { dialect: 'service', apiVersion: 25, answers })).toEqual(shown`
      # TYPE automation_app_value gauge
      automation_app_value{server="prod",name="g",project=""} 2`);
  });

  it('sends no request to a server without application metrics', async () => {
    expect(await scrapeCollector('app-metrics', { apiVersion: 24, answers: {} })).toEqual({
      outcome: 'unsupported_version',
      text: '',
    });
  });

  it("merges timers that contain a project's name into one name", async () => {
    const body = `{"version":"4.0.0","timers":{
      "rundeck.services.NodeService.project.billing.loadNodes":{"count":1,"duration_units":"seconds"},
      "rundeck.services.NodeService.project.a.b-c+d.loadNodes":{"count":2,"duration_units":"seconds"},
      "rundeck.services.NodeService.project.loadNodes.loadNodes":{"count":3,"duration_units":"seconds"},
      "service.services.NodeService.project.x.loadNodes":{"count":4,"duration_units":"seconds"},
      "rundeck.services.NodeService.project":{"count":5,"duration_units":"seconds"}}}`;
    expect(await scrape({ [METRICS]: { body } })).toEqual(shown`
        # TYPE automation_app_duration_seconds summary
        automation_app_duration_seconds_count{server="prod",name="rundeck.services.NodeService.project",project=""} 5
        automation_app_duration_seconds_count{server="prod",name="rundeck.services.NodeService.project.loadNodes",project="a.b-c+d"} 2
        automation_app_duration_seconds_count{server="prod",name="rundeck.services.NodeService.project.loadNodes",project="billing"} 1
        automation_app_duration_seconds_count{server="prod",name="rundeck.services.NodeService.project.loadNodes",project="loadNodes"} 3
        automation_app_duration_seconds_count{server="prod",name="service.services.NodeService.project.loadNodes",project="x"} 4`);
  });

  it.each([
    ['up to release 5', 'p50'],
    ['of release 6', 'median'],
  ])('shows a histogram %s as it is, without a unit', async (_release, half) => {
    const body = `{"version":"3.1.3","histograms":{"sizes":{"count":3,"max":9,"mean":5,"min":1,"${half}":4,"p75":5,"p95":6,"p98":7,"p99":8,"p999":9,"stddev":2}}}`;
    expect(await scrape({ [METRICS]: { body } })).toEqual(shown`
        # TYPE automation_app_distribution summary
        automation_app_distribution_count{server="prod",name="sizes",project=""} 3
        automation_app_distribution{server="prod",name="sizes",project="",quantile="0.5"} 4
        automation_app_distribution{server="prod",name="sizes",project="",quantile="0.75"} 5
        automation_app_distribution{server="prod",name="sizes",project="",quantile="0.95"} 6
        automation_app_distribution{server="prod",name="sizes",project="",quantile="0.98"} 7
        automation_app_distribution{server="prod",name="sizes",project="",quantile="0.99"} 8
        automation_app_distribution{server="prod",name="sizes",project="",quantile="0.999"} 9`);
  });

  it('skips values that are not numbers', async () => {
    const body = String.raw`{"version":"4.0.0","gauges":{"null":{"value":null},"text":{"value":"7"},"list":{"value":[]},"flag":{"value":true},"huge":{"value":1e999},
      "threw":{"error":"java.lang.RuntimeException: closed"},"odd":3,"good \"one\"":{"value":-1.5}},
      "counters":{"null":{"count":null}},"meters":{"none":{"units":"events/second"}},"timers":{"none":{"p50":1,"duration_units":"seconds"}},"histograms":null}`;
    expect(await scrape({ [METRICS]: { body } })).toEqual(shown`
        # TYPE automation_app_value gauge
        automation_app_value{server="prod",name="good \"one\"",project=""} -1.5`);
  });

  it.each<readonly [string, CannedAnswer]>([
    // The endpoint is off by default since release 6.
    ['not_found', { status: 404, body: '{"error":true,"errorCode":"api.error.invalid.request","message":"refused"}' }],
    ['not_found', { status: 404, body: '{"error":"disabled","enable":"set the property"}' }],
    ['forbidden', { status: 401, body: '{"error":true,"message":"Unauthorized"}' }],
    // In release 6, the whole answer fails if one gauge fails.
    ['server', { status: 500, body: '{"error":"A server error occurred"}' }],
    ['decode', { body: '{"error":"pending"}' }],
    ['decode', { body: '[]' }],
    ['empty', { body: '' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape({ [METRICS]: answer })).toEqual({ outcome, text: '' });
  });
});

function scrape(answers: Readonly<Record<string, CannedAnswer>>) {
  return scrapeCollector('app-metrics', { answers });
}
