import { describe, expect, it } from 'vitest';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';

const two =
  '[{"login":"amira","firstName":null,"lastName":null,"email":"amira@example.org","created":"2024-01-01T00:00:00Z","updated":"2024-01-01T00:00:00Z","lastJob":null,"tokens":2},{"login":"lee","firstName":"Lee","lastName":null,"email":null,"created":"2024-01-01T00:00:00.123Z","updated":null,"lastJob":"2024-05-20T10:13:20Z","tokens":0,"lastLogin":null}]';

describe('collectors/users', () => {
  it.each<readonly ['service' | 'rundeck', string, string]>([
    ['rundeck', two, '2'],
    ['service', two, '2'],
    ['rundeck', '[]', '0'],
  ])('counts users in the %s dialect and shows nothing else of %s', async (dialect, body, count) => {
    expect(await scrapeCollector('users', { dialect, answers: { 'user/list': { body } } })).toEqual(shown`
      # TYPE automation_users gauge
      automation_users{server="prod"} ${count}`);
  });

  it.each<readonly [string, CannedAnswer]>([
    // In the rundeck dialect, the code is a key of a message.
    ['forbidden', { status: 403, body: '{"error":true,"errorCode":"request.error.unauthorized.message"}' }],
    ['decode', { body: '{"users":2}' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrapeCollector('users', { answers: { 'user/list': answer } })).toEqual({ outcome, text: '' });
  });

  it('sends no request to a server without a list of users', async () => {
    expect(await scrapeCollector('users', { apiVersion: 26, answers: { 'user/list': { body: two } } })).toEqual({
      outcome: 'unsupported_version',
      text: '',
    });
  });
});
