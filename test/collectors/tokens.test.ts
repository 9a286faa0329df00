import { describe, expect, it } from 'vitest';
import { tokens } from '../../src/api/endpoints/tokens.ts';
import { type CannedAnswer, complaintsOf, scrapeCollector, shown } from '../support/scrape.ts';

// 2024-05-20T10:13:20Z, the clock of these polls.
const nowMs = 1_716_200_000_000;

describe('collectors/tokens', () => {
  it.each<readonly [string, 'service' | 'rundeck']>([
    ['with a name since API 37, and with milliseconds in release 6.0', 'rundeck'],
    ['of the service dialect', 'service'],
  ])('reports the dates and the number of tokens %s', async (_name, dialect) => {
    const body = `[
      {"id":"6b1d0f0e","creator":"amira","user":"amira","roles":["admin"],"name":"ci","expiration":"2024-06-01T00:00:00Z","expired":false},
      {"id":"77aa","creator":"amira","user":"amira","roles":["admin"],"name":"backup","expiration":"2024-05-01T00:00:00.250Z","expired":true},
      {"id":"88bb","creator":"lee","user":"lee","roles":["ops"],"name":"for ever","expired":false}]`;
    expect(await scrape({ dialect, answers: { tokens: { body } } })).toEqual(shown`
        # TYPE automation_token_expiration_timestamp_seconds gauge
        automation_token_expiration_timestamp_seconds{server="prod",name="backup"} 1714521600.25
        automation_token_expiration_timestamp_seconds{server="prod",name="ci"} 1717200000
        # TYPE automation_tokens gauge
        automation_tokens{server="prod",state="expired"} 1
        automation_tokens{server="prod",state="valid"} 2`);
  });

  it('shows the earliest date of several tokens with the same name', async () => {
    const body = `[
      {"id":"1","user":"a","name":"ci","expiration":"2025-01-02T00:00:00Z","expired":false},
      {"id":"2","user":"a","name":"ci","expiration":"2025-01-01T00:00:00Z","expired":false},
      {"id":"3","user":"a","name":"ci","expired":false},
      {"id":"4","user":"a","expiration":"2025-02-02T00:00:00Z","expired":false},
      {"id":"5","user":"a","name":null,"expiration":"2025-02-01T00:00:00Z","expired":false}]`;
    expect(await scrape({ answers: { tokens: { body } } })).toEqual(shown`
        # TYPE automation_token_expiration_timestamp_seconds gauge
        automation_token_expiration_timestamp_seconds{server="prod",name=""} 1738368000
        automation_token_expiration_timestamp_seconds{server="prod",name="ci"} 1735689600
        # TYPE automation_tokens gauge
        automation_tokens{server="prod",state="expired"} 0
        automation_tokens{server="prod",state="valid"} 5`);
  });

  it('prefers a valid token to expired tokens with the same name', async () => {
    const body = `[
      {"id":"1","user":"a","name":"ci","expiration":"2024-05-01T00:00:00Z","expired":true},
      {"id":"2","user":"a","name":"ci","expiration":"2024-05-22T00:00:00Z","expired":false},
      {"id":"3","user":"a","name":"old","expiration":"2024-04-01T00:00:00Z","expired":true},
      {"id":"4","user":"a","name":"old","expiration":"2024-05-02T00:00:00Z","expired":true},
      {"id":"5","user":"a","name":"endless","expiration":"2024-05-02T00:00:00Z","expired":true},
      {"id":"6","user":"a","name":"endless","expired":false}]`;
    const { text } = await scrape({ answers: { tokens: { body } }, nowMs });
    expect(text).not.toContain('name="endless"');
    expect(text).toContain('automation_token_expiration_timestamp_seconds{server="prod",name="ci"} 1716336000\n');
    expect(text).toContain('automation_token_expiration_timestamp_seconds{server="prod",name="old"} 1714608000\n');
  });

  it('compares expiration times with the clock if the server does not report which tokens have expired', async () => {
    const body = `[
      {"id":"1","user":"a","name":"past","expiration":"2024-05-20T10:13:20Z"},
      {"id":"2","user":"a","name":"future","expiration":"2024-05-20T10:13:21Z","expired":null},
      {"id":"3","user":"a"}]`;
    const { text } = await scrape({ answers: { tokens: { body } }, nowMs });
    expect(text).toContain('automation_tokens{server="prod",state="expired"} 1\n');
    expect(text).toContain('automation_tokens{server="prod",state="valid"} 2');
  });

  it('counts a token as expired only if the server reports so, whatever its expiration time is', async () => {
    const body = `[
      {"id":"1","user":"a","name":"x","expiration":"2024-05-20T10:13:25Z","expired":true},
      {"id":"2","user":"a","name":"y","expiration":"2024-05-20T10:13:15Z","expired":false},
      {"id":"3","user":"a","name":"z","expiration":"2024-05-20T10:13:15Z","expired":false}]`;
    const { text } = await scrape({ answers: { tokens: { body } }, nowMs });
    expect(text).toContain('automation_tokens{server="prod",state="expired"} 1\n');
    expect(text).toContain('automation_tokens{server="prod",state="valid"} 2');
  });

  it('complains about tokens that expire within a week', async () => {
    const body = `[
      {"id":"1","user":"a","name":"soon","expiration":"2024-05-27T10:13:19Z"},
      {"id":"2","user":"a","name":"later","expiration":"2024-05-27T10:13:21Z"},
      {"id":"3","user":"a","name":"past","expiration":"2024-05-20T10:13:19Z"},
      {"id":"4","user":"a","name":"for ever"}]`;
    expect(await complaintsOf('tokens', { answers: { [tokens.name]: { body } }, nowMs })).toEqual([
      'the API token soon expires in 6 d 23 h',
    ]);
  });

  it('shows no series without a token', async () => {
    expect(await scrape({ answers: { tokens: { body: '[]' } } })).toEqual(shown`
        # TYPE automation_tokens gauge
        automation_tokens{server="prod",state="expired"} 0
        automation_tokens{server="prod",state="valid"} 0`);
  });

  it('never requests responses with the tokens themselves', async () => {
    const answers = { tokens: { body: '[{"user":"a","id":"the-secret-itself"}]' } };
    expect(await scrape({ apiVersion: 18, answers })).toEqual({ outcome: 'unsupported_version', text: '' });
  });

  it('publishes no token id', async () => {
    const answers = { tokens: { body: '[{"user":"a","id":"the-secret-itself","token":"the-secret-itself"}]' } };
    const { text } = await scrape({ apiVersion: 19, answers });
    expect(text).toContain('automation_tokens{server="prod",state="valid"} 1');
    expect(text).not.toContain('secret');
    expect(tokens.body.parse([{ user: 'a', id: 'the-secret-itself', token: 'the-secret-itself' }])).toEqual([{}]);
  });

  it.each<readonly [string, CannedAnswer]>([
    ['forbidden', { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized","message":"no"}' }],
    ['unauthorized', { status: 403, body: '{"error":true,"errorCode":"unauthorized","message":"(Token:abcd****)"}' }],
    ['decode', { body: '{"tokens":[]}' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape({ answers: { tokens: answer } })).toEqual({ outcome, text: '' });
  });
});

function scrape(upstream: Parameters<typeof scrapeCollector>[1]) {
  return scrapeCollector('tokens', upstream);
}
