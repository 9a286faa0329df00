import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/api/client.ts';
import { logStorageCollector } from '../../src/collectors/log-storage.ts';
import type { Memory } from '../../src/domain/memory.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { type CannedAnswer, complaintsOf, golden, refusal, scrapeCollector, shown } from '../support/scrape.ts';
import { createTestWatch } from '../support/watch.ts';

describe('collectors/log-storage', () => {
  it.each([
    { case: 'nothing of failures before the first poll', failed: [7, 7], queued: 0, complaints: [] },
    {
      case: 'failures since the last poll',
      failed: [7, 9],
      queued: 0,
      complaints: ['storing logs fails: 9 times since the server started, the last within 30 minutes'],
    },
    { case: 'nothing where the server began anew', failed: [7, 0], queued: 0, complaints: [] },
    {
      case: 'failures since the server began anew',
      failed: [7, 2],
      queued: 0,
      complaints: ['storing logs fails: 2 times since the server started, the last within 30 minutes'],
    },
    { case: 'nothing of a short queue', failed: [0, 0], queued: 50, complaints: [] },
    { case: 'a long queue', failed: [0, 0], queued: 51, complaints: ['51 logs wait to be stored'] },
  ])('complains about $case', async ({ failed: [before, now], queued: queuedCount, complaints }) => {
    const answer = (failedCount: number | undefined) => ({
      'system/logstorage': { body: JSON.stringify({ enabled: true, failedCount, queuedCount }) },
    });
    const upstream = { before: answer(before), answers: answer(now) };
    expect(await complaintsOf('log-storage', upstream)).toEqual(complaints);
  });

  it('complains for half an hour after a failure, and for only ten minutes if a log was stored since', async () => {
    const before: Memory = { failed: 7 };
    const failed = await poll({ failedCount: 9, succeededCount: 5 }, before, 0);
    const silent = (minutes: number) => poll({ failedCount: 9, succeededCount: 5 }, failed.memory, minutes);
    const stored = await poll({ failedCount: 9, succeededCount: 6 }, failed.memory, 1);
    const later = (minutes: number) => poll({ failedCount: 9, succeededCount: 6 }, stored.memory, minutes);
    const polls = await Promise.all([silent(25), silent(31), later(9), later(11)]);
    expect(polls.map(({ complaints }) => complaints.length)).toEqual([1, 0, 1, 0]);
  });

  it('complains about many logs that are not fully stored', async () => {
    const answers = { 'system/logstorage': { body: '{"enabled":true,"incompleteCount":51}' } };
    expect(await complaintsOf('log-storage', { answers })).toEqual(['51 logs are not fully stored']);
  });

  it('does not complain about a failure without a date or about disabled storage', async () => {
    const body = '{"enabled":false,"pluginName":null,"failedCount":3,"queuedCount":0}';
    expect(await complaintsOf('log-storage', { answers: { 'system/logstorage': { body } } })).toEqual([]);
  });

  it('reports no missing log of a server without a storage plugin', async () => {
    const answers = { 'system/logstorage': { body: '{"enabled":false,"pluginName":null,"missingCount":70000}' } };
    expect(await complaintsOf('log-storage', { answers, apiVersion: 24 })).toEqual([]);
    const { text } = await scrapeCollector('log-storage', { answers, apiVersion: 24 });
    expect(text).toContain('automation_log_storage_missing{server="prod"} 0');
  });

  it('reads a server without a storage plugin', async () => {
    // Without a plugin, `pluginName` is null and the counts are 0.
    const body =
      '{"enabled":false,"pluginName":null,"succeededCount":0,"failedCount":0,"queuedCount":0,"queuedRequestCount":0,"queuedRetriesCount":0,"queuedIncompleteCount":0,"totalCount":0,"incompleteCount":0,"missingCount":0,"retriesCount":0}';
    expect(await scrape({ body })).toEqual(shown`
        # TYPE automation_log_storage_enabled gauge
        automation_log_storage_enabled{server="prod"} 0
        # TYPE automation_log_storage_failed_total counter
        automation_log_storage_failed_total{server="prod"} 0
        # TYPE automation_log_storage_incomplete gauge
        automation_log_storage_incomplete{server="prod"} 0
        # TYPE automation_log_storage_missing gauge
        automation_log_storage_missing{server="prod"} 0
        # TYPE automation_log_storage_queued gauge
        automation_log_storage_queued{server="prod"} 0
        # TYPE automation_log_storage_requests gauge
        automation_log_storage_requests{server="prod"} 0
        # TYPE automation_log_storage_succeeded_total counter
        automation_log_storage_succeeded_total{server="prod"} 0`);
  });

  it.each<readonly [string, { apiVersion?: number; dialect?: 'service' }, string]>([
    [
      'reads every count of 5.3',
      {},
      '{"enabled":true,"pluginName":"object-store","succeededCount":349,"failedCount":2,"queuedCount":3,"queuedRequestCount":91,"queuedRetriesCount":92,"queuedIncompleteCount":93,"totalCount":354,"incompleteCount":5,"missingCount":7,"retriesCount":94}',
    ],
    [
      // API reference, "Log storage info" names only these eight fields.
      'reads the documented members of the neutral dialect',
      { dialect: 'service' },
      '{"enabled":true,"pluginName":"object-store","succeededCount":349,"failedCount":2,"queuedCount":3,"totalCount":354,"incompleteCount":5,"missingCount":7}',
    ],
    [
      'reads version 17, the first with the endpoint',
      { apiVersion: 17 },
      '{"enabled":true,"pluginName":"object-store","succeededCount":349,"failedCount":2,"queuedCount":3,"totalCount":354,"incompleteCount":5,"missingCount":7}',
    ],
    [
      // Some releases write numbers as text.
      'reads numbers that arrive as text',
      {},
      '{"enabled":"true","pluginName":"object-store","succeededCount":"349","failedCount":"2","queuedCount":"3","totalCount":"354","incompleteCount":"5","missingCount":"7"}',
    ],
  ])('%s', async (_name, server, body) => {
    expect(await scrape({ body }, server)).toEqual(shown`
        # TYPE automation_log_storage_enabled gauge
        automation_log_storage_enabled{server="prod"} 1
        # TYPE automation_log_storage_failed_total counter
        automation_log_storage_failed_total{server="prod"} 2
        # TYPE automation_log_storage_incomplete gauge
        automation_log_storage_incomplete{server="prod"} 5
        # TYPE automation_log_storage_info gauge
        automation_log_storage_info{server="prod",plugin="object-store"} 1
        # TYPE automation_log_storage_missing gauge
        automation_log_storage_missing{server="prod"} 7
        # TYPE automation_log_storage_queued gauge
        automation_log_storage_queued{server="prod"} 3
        # TYPE automation_log_storage_requests gauge
        automation_log_storage_requests{server="prod"} 354
        # TYPE automation_log_storage_succeeded_total counter
        automation_log_storage_succeeded_total{server="prod"} 349`);
  });

  it.each([
    [
      'invents no zero for members that are absent or null',
      '{"enabled":true,"succeededCount":12,"queuedCount":null}',
      golden`
        # TYPE automation_log_storage_enabled gauge
        automation_log_storage_enabled{server="prod"} 1
        # TYPE automation_log_storage_succeeded_total counter
        automation_log_storage_succeeded_total{server="prod"} 12`,
    ],
    [
      'reads a "false" that arrives as text',
      '{"enabled":"false","pluginName":null,"succeededCount":"0"}',
      golden`
        # TYPE automation_log_storage_enabled gauge
        automation_log_storage_enabled{server="prod"} 0
        # TYPE automation_log_storage_succeeded_total counter
        automation_log_storage_succeeded_total{server="prod"} 0`,
    ],
    [
      'writes valid text for any name of a plugin',
      String.raw`{"enabled":true,"pluginName":"a\"} 1\n# TYPE evil counter\\ 🚀"}`,
      golden`
        # TYPE automation_log_storage_enabled gauge
        automation_log_storage_enabled{server="prod"} 1
        # TYPE automation_log_storage_info gauge
        automation_log_storage_info{server="prod",plugin="a\"} 1\n# TYPE evil counter\\ 🚀"} 1`,
    ],
    [
      'writes large counts in full',
      '{"enabled":true,"succeededCount":12884901888,"totalCount":12884901889}',
      golden`
        # TYPE automation_log_storage_enabled gauge
        automation_log_storage_enabled{server="prod"} 1
        # TYPE automation_log_storage_requests gauge
        automation_log_storage_requests{server="prod"} 12884901889
        # TYPE automation_log_storage_succeeded_total counter
        automation_log_storage_succeeded_total{server="prod"} 12884901888`,
    ],
  ])('%s', async (_name, body, text) => {
    expect(await scrape({ body })).toEqual({ outcome: 'success', text });
  });

  it('shows the present counts after a restart has reset the counters', async () => {
    // A member loses its counts at a restart.
    const earlier = { body: '{"enabled":true,"pluginName":"object-store","succeededCount":349,"failedCount":2}' };
    const answers = { 'system/logstorage': { body: '{"enabled":true,"succeededCount":1}' } };
    const before = { 'system/logstorage': earlier };
    expect(await scrapeCollector('log-storage', { before, answers })).toEqual(shown`
        # TYPE automation_log_storage_enabled gauge
        automation_log_storage_enabled{server="prod"} 1
        # TYPE automation_log_storage_succeeded_total counter
        automation_log_storage_succeeded_total{server="prod"} 1`);
  });

  it.each<readonly [string, CannedAnswer]>([
    ['forbidden', refusal(403, 'api.error.item.unauthorized')],
    ['unauthorized', refusal(403, 'unauthorized')],
    ['not_found', refusal(404, 'api.error.invalid.request')],
    ['server', { status: 500, body: '{"error":"A server error occurred"}' }],
    ['empty', { body: '' }],
    ['decode', { body: '[]' }],
    ['decode', { body: '{"enabled":tru' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape(answer)).toEqual({ outcome, text: '' });
  });

  it('reports unsupported_version below API version 17', async () => {
    const body = '{"enabled":true,"pluginName":null,"succeededCount":1}';
    expect(await scrape({ body }, { apiVersion: 16 })).toEqual({ outcome: 'unsupported_version', text: '' });
  });
});

async function poll(counts: object, before: Memory, minutes: number) {
  // This cast is safe: the collector uses only these functions.
  const api = { get: async () => counts, server: () => ({ hidesMembers: false }) } as unknown as Api;
  const { watch } = createTestWatch(fakeClock({}));
  const collected = await logStorageCollector.collect(api, watch, before, () => minutes * 60_000);
  if (collected.off !== undefined) throw new Error('the collector is on');
  return collected;
}

function scrape(answer: CannedAnswer, server: { apiVersion?: number; dialect?: 'service' } = {}) {
  const answers = { 'system/logstorage': answer };
  return scrapeCollector('log-storage', { answers, ...server });
}
