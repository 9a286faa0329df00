import { describe, expect, it } from 'vitest';
import { logStorageIncompleteCollector } from '../../src/collectors/log-storage-incomplete.ts';
import { createTestClient } from '../support/client.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';
import { createTestTransport } from '../support/transport.ts';
import { createTestWatch } from '../support/watch.ts';

const LIST = 'system/logstorage/incomplete';
const projects = { body: '[{"name":"billing"},{"name":"night jobs"},{"name":"secret"}]' };

describe('collectors/log-storage-incomplete', () => {
  it.each(['rundeck', 'service'] as const)('counts logs by project and state in the %s dialect', async (dialect) => {
    const body = list([
      '{"id":12,"project":"billing","href":"http://h/12","permalink":"http://h/p/12","storage":{"localFilesPresent":true,"incompleteFiletypes":"rdlog,state.json","queued":true,"failed":false,"date":"2024-05-20T10:13:20Z"},"errors":null}',
      '{"id":13,"project":"billing","storage":{"localFilesPresent":true,"incompleteFiletypes":"*","queued":false,"failed":true,"date":"2024-05-20T10:00:00.500Z"},"errors":["refused"]}',
      '{"id":14,"project":"night jobs","storage":{"localFilesPresent":false,"incompleteFiletypes":"rdlog","queued":false,"failed":true,"date":"2024-05-19T00:00:00Z"},"errors":["refused"]}',
    ]);
    expect(await scrape({ [LIST]: { body }, projects }, dialect)).toEqual(shown`
        # TYPE automation_log_storage_incomplete_executions gauge
        automation_log_storage_incomplete_executions{server="prod",project="billing",state="failed"} 1
        automation_log_storage_incomplete_executions{server="prod",project="billing",state="queued"} 1
        automation_log_storage_incomplete_executions{server="prod",project="night jobs",state="failed"} 1
        automation_log_storage_incomplete_executions{server="prod",project="night jobs",state="queued"} 0
        # TYPE automation_log_storage_oldest_incomplete_timestamp_seconds gauge
        automation_log_storage_oldest_incomplete_timestamp_seconds{server="prod",project="billing"} 1716199200.5
        automation_log_storage_oldest_incomplete_timestamp_seconds{server="prod",project="night jobs"} 1716076800`);
  });

  it('counts a failed log that is queued again only as failed', async () => {
    const body = list([
      '{"id":"12","project":"billing","storage":{"queued":"true","failed":"true","date":null}}',
      '{"id":13,"project":"billing","storage":{"queued":false,"failed":false}}',
      '{"id":14,"project":"billing","storage":null}',
    ]);
    expect(await scrape({ [LIST]: { body }, projects })).toEqual(shown`
        # TYPE automation_log_storage_incomplete_executions gauge
        automation_log_storage_incomplete_executions{server="prod",project="billing",state="failed"} 1
        automation_log_storage_incomplete_executions{server="prod",project="billing",state="queued"} 0`);
  });

  it('shows no series of excluded projects', async () => {
    const body = list(['{"id":1,"project":"secret","storage":{"queued":true,"failed":false}}']);
    const upstream = {
      answers: { [LIST]: { body }, projects },
      watch: { isWanted: (name: string) => name !== 'secret' },
    };
    expect(await scrapeCollector('log-storage-incomplete', upstream)).toEqual({ outcome: 'success', text: '' });
  });

  it('shows no series if every log is stored', async () => {
    expect(await scrape({ [LIST]: { body: '{"total":0,"max":20,"offset":0,"executions":[]}' } })).toEqual({
      outcome: 'success',
      text: '',
    });
  });

  it('counts each log once, even if rows move to another page', async () => {
    const { rows, asked } = await readPages(1200, (offset) => Math.max(0, offset - 30));
    expect(asked).toEqual(['max=500', 'max=500&offset=450', 'max=500&offset=900']);
    expect(rows).toEqual(['billing queued 1200', 'billing failed 0']);
  });

  it('reads all pages if a gateway lowers the number of rows', async () => {
    const { rows, asked } = await readPages(250, (offset) => offset, 100);
    expect(asked).toEqual(['max=500', 'max=500&offset=75', 'max=500&offset=150']);
    expect(rows).toEqual(['billing queued 250', 'billing failed 0']);
  });

  it('shows no series instead of a partial count if the list never ends', async () => {
    await expect(readPages(20_000, (offset) => offset)).rejects.toThrow(
      'GET log-storage-incomplete: more than 20 pages; no row is counted',
    );
  });

  it.each<readonly [string, CannedAnswer]>([
    ['forbidden', { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized","message":"no"}' }],
    ['decode', { body: '{"total":1}' }],
    ['decode', { body: list(['{"project":"billing","storage":{}}']) }],
    ['server', { status: 500, body: '{"error":"A server error occurred"}' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape({ [LIST]: answer, projects })).toEqual({ outcome, text: '' });
  });
});

/** The result for a number of logs; `shift` moves the start of each page. */
async function readPages(total: number, shift: (offset: number) => number, maxRows = 500) {
  const asked: string[] = [];
  const transport = createTestTransport((path) => {
    if (path.includes('/projects')) return [{ name: 'billing' }];
    if (path.endsWith('/system/info')) return { system: { rundeck: { version: '5.3.0', apiversion: '47' } } };
    const query = new URLSearchParams(path.split('?')[1]);
    asked.push(query.toString().replace('&offset=0', ''));
    const offset = shift(Number(query.get('offset')));
    const size = Math.min(Number(query.get('max')), maxRows, Math.max(0, total - offset));
    const executions = Array.from({ length: size }, (_, index) => ({
      id: offset + index + 1,
      project: 'billing',
      storage: { queued: true, failed: false },
    }));
    return { total, max: maxRows, offset, executions };
  });
  const { api } = createTestClient({ url: 'http://unused.test', transport });
  const { watch } = createTestWatch(fakeClock({ now: () => 0, ticks: () => 0 }));
  const collected = await logStorageIncompleteCollector.collect(api, watch, {}, () => 0);
  const rows = collected.off === undefined ? collected.rows : [];
  return { asked, rows: rows.map(({ labels, value }) => [...labels, value].join(' ')) };
}

function list(executions: readonly string[]): string {
  return `{"total":${executions.length},"max":500,"offset":0,"executions":[${executions.join(',')}]}`;
}

function scrape(answers: Readonly<Record<string, CannedAnswer>>, dialect: 'rundeck' | 'service' = 'rundeck') {
  return scrapeCollector('log-storage-incomplete', { dialect, answers });
}
