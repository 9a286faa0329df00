import { describe, expect, it } from 'vitest';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';

const STATE = 'userclass/state';

describe('collectors/user-classes', () => {
  it.each(['rundeck', 'service'] as const)('shows how much of a licence is used in the %s dialect', async (dialect) => {
    const body =
      '{"allocations":{"amira":"full","lee":"limited"},"state":"exceeded","message":"too many","summary":{"full":12,"limited":3},"exceeded":{"full":2},"entitled":{"full":10,"limited":50}}';
    expect(await scrapeCollector('user-classes', { dialect, answers: { [STATE]: { body } } })).toEqual(shown`
      # TYPE automation_user_class_entitled gauge
      automation_user_class_entitled{server="prod",class="full"} 10
      automation_user_class_entitled{server="prod",class="limited"} 50
      # TYPE automation_user_class_exceeded gauge
      automation_user_class_exceeded{server="prod",class="full"} 2
      # TYPE automation_user_class_users gauge
      automation_user_class_users{server="prod",class="full"} 12
      automation_user_class_users{server="prod",class="limited"} 3`);
  });

  it('shows the known parts of an incomplete response', async () => {
    const body = '{"state":"ok","message":null,"summary":{"full":"1","odd":null},"exceeded":null}';
    expect(await scrapeCollector('user-classes', { answers: { [STATE]: { body } } })).toEqual(shown`
      # TYPE automation_user_class_users gauge
      automation_user_class_users{server="prod",class="full"} 1`);
  });

  it.each<readonly [string, CannedAnswer]>([
    // The open-source server has no user classes, which is not a fault.
    ['not_found', { status: 404, body: '{"error":true,"errorCode":"api.error.invalid.request","message":"refused"}' }],
    ['forbidden', { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized","message":"no"}' }],
    ['decode', { body: '[]' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrapeCollector('user-classes', { answers: { [STATE]: answer } })).toEqual({ outcome, text: '' });
  });

  it('sends no request to a server without user classes', async () => {
    expect(await scrapeCollector('user-classes', { apiVersion: 40, answers: {} })).toEqual({
      outcome: 'unsupported_version',
      text: '',
    });
  });
});
