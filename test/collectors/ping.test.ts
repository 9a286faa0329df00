import { describe, expect, it } from 'vitest';
import { pingCollector } from '../../src/collectors/ping.ts';
import { createTestClient } from '../support/client.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';
import { createTestTransport } from '../support/transport.ts';
import { createTestWatch } from '../support/watch.ts';

const TEXT = { 'content-type': 'text/plain;charset=utf-8' };
const HTML = { 'content-type': 'text/html;charset=utf-8' };

describe('collectors/ping', () => {
  it.each<readonly [string, 'service' | 'rundeck', CannedAnswer]>([
    // Releases 3 to 5 end the line, release 6 does not.
    ['with an end of line', 'rundeck', { headers: TEXT, body: 'pong\n' }],
    ['without one', 'rundeck', { headers: TEXT, body: 'pong' }],
    ['of the service dialect', 'service', { headers: { 'content-type': 'text/plain' }, body: 'pong' }],
  ])('reads a pong %s', async (_name, dialect, answer) => {
    expect(await scrapeCollector('ping', { dialect, answers: { 'metrics/ping': answer } })).toEqual(shown`
      # TYPE automation_ping_duration_seconds gauge
      automation_ping_duration_seconds{server="prod"} 0`);
  });

  it('measures the request without the first contact', async () => {
    let nowMs = 1_716_200_000_000;
    const clock = fakeClock({ now: () => nowMs, ticks: () => nowMs });
    const transport = createTestTransport((path) => {
      nowMs += path.endsWith('/metrics/ping') ? 250 : 4000;
      return path.endsWith('/metrics/ping') ? 'pong' : { system: { rundeck: { version: '5.3.0', apiversion: '47' } } };
    });
    const { api } = createTestClient({ url: 'http://unused.test', transport, clock });
    const { watch } = createTestWatch(clock);

    expect(await pingCollector.collect(api, watch, {}, clock.now)).toMatchObject({
      rows: [{ family: { name: 'automation_ping_duration_seconds' }, labels: [], value: 0.25 }],
    });
  });

  it.each<readonly [string, CannedAnswer]>([
    ['not_found', { status: 404, body: '{"error":true,"errorCode":"api.error.invalid.request","message":"refused"}' }],
    ['not_found', { status: 404, body: '{"error":"disabled","enable":"set the property"}' }],
    ['forbidden', { status: 401, body: '{"error":true,"message":"Unauthorized"}' }],
    ['decode', { headers: TEXT, body: 'pong?' }],
    ['decode', { body: '{"pong":true}' }],
    ['empty', { headers: TEXT, body: '' }],
    ['html', { headers: HTML, body: '<html><body>pong</body></html>' }],
    ['unauthorized', { headers: HTML, body: '<html><form action="/j_security_check"></form></html>' }],
    ['server', { status: 500, headers: TEXT, body: 'pong' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrapeCollector('ping', { answers: { 'metrics/ping': answer } })).toEqual({ outcome, text: '' });
  });

  it('sends no request to a server without the endpoint', async () => {
    const answers = { 'metrics/ping': { headers: TEXT, body: 'pong' } };
    expect(await scrapeCollector('ping', { apiVersion: 24, answers })).toEqual({
      outcome: 'unsupported_version',
      text: '',
    });
  });
});
