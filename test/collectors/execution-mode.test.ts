import { describe, expect, it } from 'vitest';
import { type CannedAnswer, refusal, scrapeCollector } from '../support/scrape.ts';

const STATUS = 'system/executions/status';
const ACTIVE = `
# TYPE automation_execution_mode gauge
automation_execution_mode{server="prod",mode="active"} 1
automation_execution_mode{server="prod",mode="passive"} 0`.trim();
const PASSIVE = `
# TYPE automation_execution_mode gauge
automation_execution_mode{server="prod",mode="active"} 0
automation_execution_mode{server="prod",mode="passive"} 1`.trim();
const CHANGED = `
# TYPE automation_execution_mode_change_timestamp_seconds gauge
automation_execution_mode_change_timestamp_seconds{server="prod"} 1716200000`;

describe('collectors/execution-mode', () => {
  it.each<readonly [string, number, CannedAnswer, string]>([
    ['47 says active', 47, { body: '{"executionMode":"active"}' }, ACTIVE],
    ['47 says passive', 47, { body: '{"executionMode":"passive"}' }, PASSIVE],
    ['36 says passive with 200', 36, { body: '{"executionMode":"passive"}' }, PASSIVE],
    // API reference, "States and transitions": below 36 a passive server answers 503 with this body.
    ['35 says passive with 503', 35, { status: 503, body: '{"executionMode":"passive"}' }, PASSIVE],
    ['32 says active', 32, { body: '{"executionMode":"active"}' }, ACTIVE],
    // With passiveAs503=true, which a proxy may add, any version answers 503.
    ['47 says passive with 503', 47, { status: 503, body: '{"executionMode":"passive"}' }, PASSIVE],
  ])('reads the mode when version %s', async (_name, apiVersion, answer, text) => {
    expect(await scrape({ apiVersion, answers: { [STATUS]: answer } })).toEqual({ outcome: 'success', text });
  });

  it('also reads the dialect `service`', async () => {
    const answers = { [STATUS]: { body: '{"executionMode":"passive"}' } };
    expect(await scrape({ dialect: 'service', answers })).toEqual({ outcome: 'success', text: PASSIVE });
  });

  it.each<readonly [string, number, string, string]>([
    // API reference, "Versioning": the status endpoint exists since version 32. Before, system/info contains the mode.
    ['31 says active', 31, '{"active":true,"executionMode":"active"}', ACTIVE],
    ['31 says passive', 31, '{"active":false,"executionMode":"passive"}', PASSIVE],
    // Some releases with version 30 wrote `active` as text.
    ['30 writes "true" as text', 30, '{"active":"true","executionMode":"active"}', ACTIVE],
    ['29 writes "false" as text', 29, '{"active":"false","executionMode":"passive"}', PASSIVE],
    ['14 says active', 14, '{"active":true,"executionMode":"active"}', ACTIVE],
  ])('reads system/info when version %s', async (_name, apiVersion, executions, text) => {
    const body = `{"system":{"timestamp":{"epoch":1716200000000,"unit":"ms","datetime":"2024-05-20T10:13:20Z"},
      "rundeck":{"version":"3.0.21-20190424","build":"3.0.21-0","node":"auto-1","base":"/srv/auto","apiversion":${apiVersion},"serverUUID":null},
      "executions":${executions},"os":{"arch":"amd64","name":"Linux","version":"4.9.0"},
      "stats":{"cpu":{"loadAverage":{"unit":"percent","average":0.3},"processors":2}}}}`;
    expect(await scrape({ apiVersion, answers: { 'system/info': { body } } })).toEqual({ outcome: 'success', text });
  });

  it('shows no mode for an unknown word', async () => {
    // A state set has exactly one 1.
    const answers = { [STATUS]: { body: '{"executionMode":"draining"}' } };
    expect(await scrape({ answers })).toEqual({ outcome: 'success', text: '' });
  });

  it.each<readonly [string, CannedAnswer]>([
    // A 503 without `passive` in its body comes from a server that starts, or from a proxy.
    ['server', { status: 503, body: '' }],
    [
      'server',
      { status: 503, headers: { 'content-type': 'text/html' }, body: '<html><body>Unavailable</body></html>' },
    ],
    ['server', { status: 503, body: '{"error":"A server error occurred"}' }],
    ['server', { status: 500, body: '{"executionMode":"passive"}' }],
    ['forbidden', refusal(403, 'api.error.item.unauthorized')],
    ['unauthorized', refusal(403, 'unauthorized')],
    ['not_found', refusal(404, 'api.error.invalid.request')],
    ['busy', refusal(429, 'api.error.busy')],
    ['empty', { body: '' }],
    ['decode', { body: '{}' }],
    ['decode', { body: '{"executionMode":null}' }],
    ['decode', { body: '{"executionMode":' }],
  ])('reports %s and no mode for %j', async (outcome, answer) => {
    expect(await scrape({ answers: { [STATUS]: answer } })).toEqual({ outcome, text: '' });
  });

  it('reports that an older version refuses system/info', async () => {
    const answers = { 'system/info': refusal(403, 'api.error.item.unauthorized') };
    expect(await scrape({ apiVersion: 31, answers })).toEqual({ outcome: 'forbidden', text: '' });
  });

  it.each<readonly [string, { earlier: CannedAnswer; now: CannedAnswer }, string]>([
    [
      'dates a change to passive',
      { earlier: { body: '{"executionMode":"active"}' }, now: { body: '{"executionMode":"passive"}' } },
      PASSIVE + CHANGED,
    ],
    [
      'dates a change back to active after a 503',
      { earlier: { status: 503, body: '{"executionMode":"passive"}' }, now: { body: '{"executionMode":"active"}' } },
      ACTIVE + CHANGED,
    ],
    [
      'dates nothing while the mode stays',
      { earlier: { body: '{"executionMode":"passive"}' }, now: { body: '{"executionMode":"passive"}' } },
      PASSIVE,
    ],
    [
      // The failed poll showed no mode, so no change was observed.
      'dates nothing after a failed poll',
      { earlier: { status: 503, body: '' }, now: { body: '{"executionMode":"passive"}' } },
      PASSIVE,
    ],
    [
      'dates nothing after an unknown word',
      { earlier: { body: '{"executionMode":"draining"}' }, now: { body: '{"executionMode":"active"}' } },
      ACTIVE,
    ],
  ])('%s', async (_name, { earlier, now }, text) => {
    const upstream = { before: { [STATUS]: earlier }, answers: { [STATUS]: now } };
    expect(await scrape(upstream)).toEqual({ outcome: 'success', text });
  });

  it('keeps the time of a change although one poll shows no mode', async () => {
    const toAnswer = (mode: string) => ({ [STATUS]: { body: JSON.stringify({ executionMode: mode }) } });
    const before = ['active', 'passive', 'draining'].map(toAnswer);
    const { text } = await scrape({ before, answers: toAnswer('passive') });
    expect(text).toBe(PASSIVE + CHANGED.replace('1716200000', '1716199940'));
  });
});

function scrape(upstream: Parameters<typeof scrapeCollector>[1]) {
  return scrapeCollector('execution-mode', upstream);
}
