import { describe, expect, it } from 'vitest';
import { executionListRoute } from '../../src/http/pages/execution/execution-list.ts';
import type { EndedExecution } from '../../src/status/status.ts';
import { isEscaped, toText } from './page-text.ts';
import { serve } from './serve.ts';
import { atMs, ended } from './some-status.ts';

const nodes = ['db01', 'db02', 'db03', 'db04', 'db05'];
const executions: readonly EndedExecution[] = [
  {
    ...ended({ id: 12, ending: 'failed', job: 'nightly/settle', failedNodes: nodes, failedNodeCount: 200 }),
    server: 'prod',
  },
  { ...ended({ id: 11, ending: 'aborted', job: 'tidy' }), server: 'prod' },
  { ...ended({ id: 10, project: 'stock', job: undefined }), server: 'test' },
  { ...ended({ id: 9, ending: 'timedout', project: 'stock', job: 'count all' }), server: 'test' },
];

async function read(path: string, all = executions): Promise<string> {
  const route = executionListRoute({
    silence: (server) => (server === 'test' ? { server, state: 'down', sinceMs: atMs, nowMs: atMs } : undefined),
    ended: async () => all,
    servers: () => ['prod', 'test', 'constructor'],
    endings: ['succeeded', 'failed', 'aborted', 'timedout'],
    nowMs: (server) => (server === 'test' ? atMs + 540_000 : atMs),
  });
  const { ask } = await serve([route]);
  const { status, headers, body } = await ask(path);
  expect(status).toBe(200);
  expect(headers['content-security-policy']).toContain("form-action 'self'");
  return body;
}

async function listIds(path: string): Promise<readonly string[]> {
  return [...(await read(path)).matchAll(/<span class="id">(#\d+)/g)].map(([, id = '']) => id);
}

describe('http/execution-list', () => {
  it('lists the last finished executions, each linked to its page', async () => {
    const page = await read('/executions');
    expect(toText(page).split('\n').slice(-6)).toEqual([
      '4 executions, newest first. The last 1,000 per server are kept.',
      'Job | Server | Project | Result | Ended | Took',
      'nightly/settle #12 | prod | pay | ✗ failed on db01, db02, db03, and 197 more | 60 s ago | 45 s',
      'tidy #11 | prod | pay | ! aborted | 60 s ago | 45 s',
      'ad hoc #10 | test | stock | ✓ succeeded | 10 min ago | 45 s',
      'count all #9 | test | stock | ✗ timedout | 10 min ago | 45 s',
    ]);
    expect(page).toContain('<a href="./executions/test/9"><bdi>count all</bdi></a>');
  });

  it.each([
    ['/executions?result=failures', ['#12', '#9']],
    ['/executions?result=aborted', ['#11']],
    ['/executions?project=stock', ['#10', '#9']],
    ['/executions?server=prod&result=failures', ['#12']],
    ['/executions?text=SETTLE', ['#12']],
    ['/executions?text=%22tidy%22', ['#11']],
    ['/executions?text=%22tid%22', []],
    ['/executions?text=%2310', ['#10']],
    ['/executions?text=ad+hoc', ['#10']],
    ['/executions?result=nonsense', []],
    ['/executions?page=99', ['#12', '#11', '#10', '#9']],
    ['/executions?page=-1', ['#12', '#11', '#10', '#9']],
  ])('filters by the query: %s', async (path, ids) => {
    expect(await listIds(path)).toEqual(ids);
  });

  it('finds the runs of a job with a long name', async () => {
    const job = `${'group/'.repeat(50)}settle`;
    const page = await read(`/executions?text=%22${job}%22`, [{ ...ended({ id: 7, job }), server: 'prod' }]);
    expect(page).toContain('<span class="id">#7<');
  });

  it('reports that a server does not respond', async () => {
    for (const path of ['/executions', '/executions?server=test'])
      expect(toText(await read(path))).toContain('No answer from "test" since');
    expect(toText(await read('/executions?server=prod'))).not.toContain('No answer');
  });

  it('shows a hundred executions at a time', async () => {
    const many = Array.from({ length: 250 }, (_, index) => ({ ...ended({ id: 1000 - index }), server: 'prod' }));
    const page = await read('/executions?project=pay&page=2', many);
    expect(page.match(/<span class="id">/g)).toHaveLength(100);
    expect(page).toContain(
      '<p><a href="executions?project=pay">← newer</a> page 2 of 3 <a href="executions?project=pay&#38;page=3">older →</a> </p>',
    );
  });

  it('offers each server by its name as a filter', async () => {
    expect(await read('/executions')).toContain('<option value="constructor">constructor</option>');
  });

  it('reports that the list is empty', async () => {
    expect(toText(await read('/executions?text=nowhere'))).toContain('\n0 of 4 executions, newest first.');
    expect(toText(await read('/executions?text=nowhere'))).toContain('\nNo execution matches. Show all');
    expect(toText(await read('/executions', []))).toContain('\nNo finished execution is known yet.');
  });

  it('lets no text of the query or of a name open a tag', async () => {
    const areEscaped = await isEscaped(async (odd) => {
      const text = `x${odd.toWellFormed()}x`;
      const all = [{ ...ended({ project: text, job: text, ending: text }), server: text }];
      const query = new URLSearchParams({ result: text, project: text, text, server: text });
      return read(`/executions?${query.toString()}`, all);
    }, 25);
    expect(areEscaped).toBe(true);
  });
});
