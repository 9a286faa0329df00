import { describe, expect, it } from 'vitest';
import { type CannedAnswer, complaintsOf, golden, refusal, scrapeCollector, shown } from '../support/scrape.ts';

const HEALTHCHECK = 'metrics/healthcheck';
const HTML = { 'content-type': 'text/html;charset=utf-8' };

describe('collectors/healthcheck', () => {
  it.each<readonly [string, readonly string[]]>([
    ['{"db":{"healthy":true},"threads":{"healthy":true}}', []],
    ['{"db":{"healthy":false},"threads":{"healthy":true}}', ['health check db fails']],
    ['{"db":{"healthy":false},"threads":{"healthy":false}}', ['health checks fail: db, threads']],
  ])('complains about the failing checks in %s', async (body, complaints) => {
    expect(await complaintsOf('healthcheck', { answers: { [HEALTHCHECK]: { status: 500, body } } })).toEqual(
      complaints,
    );
  });

  it.each<readonly [string, CannedAnswer, string]>([
    [
      // API reference, "Metrics data", as releases 3.x and 4.x send it.
      'shows every check of a healthy server as 1',
      {
        body: '{"dataSource.connection.time":{"healthy":true,"message":"Datasource connection healthy with timeout 5 seconds"},"quartz.scheduler.threadPool":{"healthy":true}}',
      },
      golden`
        # TYPE automation_healthcheck_healthy gauge
        automation_healthcheck_healthy{server="prod",check="dataSource.connection.time"} 1
        automation_healthcheck_healthy{server="prod",check="quartz.scheduler.threadPool"} 1`,
    ],
    [
      // Releases 3.x to 5.x answer 500 if a check fails; the body is the usual one.
      'reads the body of a 500 when a check is unhealthy',
      {
        status: 500,
        body: String.raw`{"dataSource.connection.time":{"healthy":true},"quartz.scheduler.threadPool":{"healthy":false,"message":"10/10 threads used\nnone is free"}}`,
      },
      golden`
        # TYPE automation_healthcheck_healthy gauge
        automation_healthcheck_healthy{server="prod",check="dataSource.connection.time"} 1
        automation_healthcheck_healthy{server="prod",check="quartz.scheduler.threadPool"} 0`,
    ],
    [
      // Release 5.x adds the duration and the local time of each check.
      'reads the entries of 5.x',
      {
        status: 500,
        body: '{"dataSource.connection.time":{"healthy":false,"message":"no connection","duration":5003,"timestamp":"2024-05-20T12:13:20.123+02:00"},"quartz.scheduler.threadPool":{"healthy":true,"duration":0,"timestamp":"2024-05-20T12:13:20.126+02:00"}}',
      },
      golden`
        # TYPE automation_healthcheck_healthy gauge
        automation_healthcheck_healthy{server="prod",check="dataSource.connection.time"} 0
        automation_healthcheck_healthy{server="prod",check="quartz.scheduler.threadPool"} 1`,
    ],
    [
      'shows a check that threw as unhealthy',
      {
        status: 500,
        body: '{"dataSource.connection.time":{"healthy":false,"message":"Connection refused","error":{"type":"java.sql.SQLException","message":"Connection refused","stack":["a.B.c(B.java:1)","a.D.e(D.java:2)"]},"duration":1,"timestamp":"2024-05-20T10:13:20.123Z"}}',
      },
      golden`
        # TYPE automation_healthcheck_healthy gauge
        automation_healthcheck_healthy{server="prod",check="dataSource.connection.time"} 0`,
    ],
    [
      'writes valid text for any name of a check',
      { body: String.raw`{"a\"} 1\nb\\c 🚀":{"healthy":true},"constructor":{"healthy":true}}` },
      golden`
        # TYPE automation_healthcheck_healthy gauge
        automation_healthcheck_healthy{server="prod",check="a\"} 1\nb\\c 🚀"} 1
        automation_healthcheck_healthy{server="prod",check="constructor"} 1`,
    ],
    [
      // A check with unknown health has no series.
      'leaves out a check without a verdict',
      { body: '{"first":{"message":"starting"},"second":{"healthy":true}}' },
      golden`
        # TYPE automation_healthcheck_healthy gauge
        automation_healthcheck_healthy{server="prod",check="second"} 1`,
    ],
    // A server without checks answers 501.
    ['shows nothing when no check is registered', { status: 501, body: '{}' }, ''],
    ['shows nothing for an empty list of checks', { body: '{}' }, ''],
  ])('%s', async (_name, answer, text) => {
    expect(await scrape({ answers: { [HEALTHCHECK]: answer } })).toEqual({ outcome: 'success', text });
  });

  it('shows no series for 6.x, whose checks are always healthy', async () => {
    const upstream = {
      apiVersion: 58,
      answers: {
        [HEALTHCHECK]: { body: '{"rundeck":{"healthy":true}}' },
        'system/info': { body: systemInfo('6.0.0-20260401', '58') },
      },
    };
    expect(await scrape(upstream)).toEqual({ outcome: 'success', text: '' });
  });

  it('shows no series for the gauges of 6.x', async () => {
    // 6.x lists gauges with "health" in their names as healthy checks, whatever their values are.
    const upstream = {
      apiVersion: 59,
      answers: {
        [HEALTHCHECK]: { body: '{"app.healthProbe":{"healthy":true}}' },
        'system/info': { body: systemInfo('6.1.0-20260601', '59') },
      },
    };
    expect(await scrape(upstream)).toEqual({ outcome: 'success', text: '' });
  });

  it('accepts the checks of 5.20, which has the same API version as 6.0', async () => {
    const upstream = {
      apiVersion: 58,
      answers: {
        [HEALTHCHECK]: {
          body: '{"dataSource.connection.time":{"healthy":true,"duration":2,"timestamp":"2026-05-20T10:13:20.123Z"}}',
        },
        'system/info': { body: systemInfo('5.20.1-20260331', '58') },
      },
    };
    expect(await scrape(upstream)).toEqual(shown`
        # TYPE automation_healthcheck_healthy gauge
        automation_healthcheck_healthy{server="prod",check="dataSource.connection.time"} 1`);
  });

  it.each<readonly [string, CannedAnswer]>([
    // The endpoint is switched off; the words of the answer depend on the release.
    ['not_found', refusal(404, 'api.error.invalid.request')],
    ['not_found', { status: 404, body: '{"error":true,"message":"Not Found"}' }],
    ['not_found', { status: 404, body: '{"error":"disabled","enable":"set the property"}' }],
    // Status 401 without an error code: the token is valid but lacks a right.
    ['forbidden', { status: 401, body: '{"error":true,"message":"Unauthorized"}' }],
    ['forbidden', refusal(403, 'api.error.item.unauthorized')],
    ['unauthorized', refusal(403, 'unauthorized')],
    // A body with `error` has no checks, so a 500 with such a body is an error.
    ['server', { status: 500, body: '{"error":"A server error occurred"}' }],
    ['server', refusal(500, 'api.error.unknown')],
    ['server', { status: 500, headers: HTML, body: '<html><body>Error</body></html>' }],
    ['server', { status: 500, body: '' }],
    ['server', { status: 501, body: '' }],
    ['server', { status: 503, body: '' }],
    ['empty', { body: '' }],
    ['html', { headers: HTML, body: '<html><body>Down for maintenance</body></html>' }],
    ['decode', { body: '[]' }],
    ['decode', { body: '{"dataSource.connection.time":{"healthy":' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape({ answers: { [HEALTHCHECK]: answer } })).toEqual({ outcome, text: '' });
  });
});

function scrape(upstream: Parameters<typeof scrapeCollector>[1]) {
  return scrapeCollector('healthcheck', upstream);
}

function systemInfo(version: string, apiversion: string): string {
  return `{"system":{"rundeck":{"version":"${version}","build":"b","node":"auto-1","base":"/srv/auto","apiversion":"${apiversion}","serverUUID":null},"timestamp":{"epoch":1716200000000,"unit":"ms","datetime":"2024-05-20T10:13:20Z"}}}`;
}
