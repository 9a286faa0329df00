import { describe, expect, it, onTestFinished } from 'vitest';
import { readStep } from '../../../src/tracing/enrich/read-step.ts';
import { startCannedServer } from '../../support/canned-server.ts';
import { createTestClient, fixedSecret } from '../../support/client.ts';

const cause = { node: 'db 03', context: '2@node=db03/1e' };
type Page = { readonly lines: number; readonly completed?: boolean; readonly length?: number };

async function read(pages: readonly Page[], bytes = 1_000_000) {
  const server = await startCannedServer({ apiVersion: 47, dialect: 'rundeck' });
  const { api, close } = createTestClient({ url: server.url, token: fixedSecret(server.token), dialect: 'rundeck' });
  onTestFinished(server.stop);
  onTestFinished(close);
  let sent = 0;
  server.answer({
    get 'execution/7/output'() {
      const { lines, completed = false, length = 10 } = pages[sent] ?? { lines: 1000 };
      sent += 1;
      const entries = Array.from({ length: lines }, (_, at) => ({
        log: `${at} ${'x'.repeat(length)}`,
        level: 'NORMAL',
      }));
      return { body: JSON.stringify({ offset: String(sent * 100), completed, entries }) };
    },
  });
  const found = await readStep(api, 7, cause, bytes);
  const asked = server.requests.filter((request) => request.includes('/output'));
  return { found: found && [found.lines.length, found.isWhole], asked };
}

describe('tracing/enrich/read-step', () => {
  it('reads the lines of the failed step page by page', async () => {
    const { found, asked } = await read([{ lines: 1000 }, { lines: 12, completed: true }]);
    expect(found).toEqual([1012, true]);
    expect(asked).toEqual([
      'GET /api/47/execution/7/output?offset=0&maxlines=1000&nodename=db+03&stepctx=2%40node%3Ddb03%2F1',
      'GET /api/47/execution/7/output?offset=100&maxlines=1000&nodename=db+03&stepctx=2%40node%3Ddb03%2F1',
    ]);
  });

  it('finds the lines of the step in a log without parameters', async () => {
    const { found, asked } = await read([
      { lines: 0, completed: true },
      { lines: 12, completed: true },
    ]);
    expect(found).toEqual([12, true]);
    expect(asked.map((request) => new URLSearchParams(request).get('stepctx'))).toEqual(['2@node=db03/1', '2/1']);
  });

  it.each([
    ['pages', [], 5000, 5],
    [
      'text',
      [
        { lines: 1000, length: 900 },
        { lines: 1000, length: 900 },
      ],
      2000,
      2,
    ],
  ])('stops after a limited number of %s', async (_what, pages, lines, requests) => {
    const { found, asked } = await read(pages);
    expect([found, asked.length]).toEqual([[lines, false], requests]);
  });

  it('does not make the server search a huge log', async () => {
    expect(await read([], 33 * 2 ** 20)).toEqual({ found: undefined, asked: [] });
  });

  it('uses the lines that were read if a page cannot be read', async () => {
    const server = await startCannedServer({ apiVersion: 47, dialect: 'rundeck' });
    const { api, close } = createTestClient({ url: server.url, token: fixedSecret(server.token), dialect: 'rundeck' });
    onTestFinished(server.stop);
    onTestFinished(close);
    const denied = { status: 403, body: '{"error":"Not authorized","id":"7","offset":"0","completed":false}' };
    const page = { body: JSON.stringify({ offset: '0', completed: false, entries: [{ log: 'a', level: 'NORMAL' }] }) };
    const answers = [page, denied, page];
    server.answer({
      get 'execution/7/output'() {
        return answers.shift() ?? denied;
      },
    });
    expect(await readStep(api, 7, cause, 0)).toMatchObject({ lines: [{ text: 'a' }], isWhole: false });
    expect(await readStep(api, 7, cause, 0)).toBeUndefined();
    expect(await readStep(api, 7, { node: undefined, context: undefined }, 0)).toBeUndefined();
  });
});
