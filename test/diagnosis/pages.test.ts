import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import type { ChangeOfServer } from '../../src/http/pages/changes/change-filter.ts';
import { changesPageRoute } from '../../src/http/pages/changes/changes-page.ts';
import { apiChangesRoute } from '../../src/http/routes/api-changes.ts';
import { toText } from '../http/page-text.ts';
import { serve } from '../http/serve.ts';

const nowMs = Date.parse('2026-03-02T03:10:00Z');
const at = (minutesAgo: number): number => nowMs - minutesAgo * 60_000;

function change(given: Partial<ChangeOfServer> = {}): ChangeOfServer {
  return {
    server: 'prod',
    kind: 'switch',
    project: 'pay',
    subject: 'pay/nightly/settle',
    what: 'schedule switched off',
    afterMs: at(20),
    beforeMs: at(15),
    ...given,
  };
}

const some = [
  change({ kind: 'key', project: '', subject: 'keys/db/prod', what: 'changed', atMs: at(5), by: 'bob' }),
  change(),
  change({ kind: 'restart', project: '', subject: '', what: 'restarted', afterMs: at(40), beforeMs: at(30) }),
];

async function read(path: string, all: readonly ChangeOfServer[] = some): Promise<string> {
  const changes = async (): Promise<readonly ChangeOfServer[]> => all;
  const begin = () => noPause;
  const { ask } = await serve([
    changesPageRoute({
      dropped: () => 3,
      changes,
      servers: () => ['prod'],
      silence: () => undefined,
      nowMs: (server) => (server === 'ahead' ? nowMs + 7_200_000 : nowMs),
      begin,
    }),
    apiChangesRoute({ changes, begin }),
  ]);
  return (await ask(path)).body;
}

async function readRows(path: string, all = some): Promise<string[]> {
  const rows = toText(await read(path, all)).split('\n');
  return rows.filter((row) => row.includes(' | ')).slice(1);
}

describe('diagnosis/pages', () => {
  it('computes the age of a change by the clock of its server', async () => {
    const [row] = await readRows('/changes', [change({ server: 'ahead', atMs: at(5) + 7_200_000 })]);
    expect(row).toContain('05:05 UTC (5 min ago)');
  });

  it('shows how many changes were dropped', async () => {
    expect(toText(await read('/changes'))).toContain('3 changes beyond that were dropped.');
  });

  it('shows each change with its time and its user', async () => {
    expect(await readRows('/changes')).toEqual([
      'keys/db/prod | key |  | changed by bob | 03:05 UTC (5 min ago)',
      'pay/nightly/settle | switch | pay | schedule switched off | 02:55 UTC (15 min ago, after 02:50 UTC)',
      'prod | restart |  | restarted | 02:40 UTC (30 min ago, after 02:30 UTC)',
    ]);
    const saysSince = async (spanMs: number) =>
      (await read('/changes', [change({ afterMs: at(15) - spanMs, beforeMs: at(15) })])).includes(', after 02:5');
    expect([await saysSince(999), await saysSince(1000)]).toEqual([false, true]);
  });

  it.each([
    ['text=BOB', ['keys/db/prod']],
    ['project=pay', ['pay/nightly/settle']],
    ['kind=restart', ['prod']],
    ['since=2026-03-02T02:52', ['keys/db/prod', 'pay/nightly/settle']],
    ['since=2026-03-02%2002:52', ['keys/db/prod', 'pay/nightly/settle']],
    [`until=${at(20)}`, ['prod']],
    ['server=other', []],
  ])('filters by %s, in any time zone of the machine', async (query, subjects) => {
    vi.stubEnv('TZ', 'Asia/Kathmandu');
    onTestFinished(() => void vi.unstubAllEnvs());
    const rows = await readRows(`/changes?${query}`);
    expect(rows.map((row) => row.split(' | ')[0])).toEqual(subjects);
    const { changes } = JSON.parse(await read(`/api/changes?${query}`)) as { changes: { subject: string | null }[] };
    expect(changes.map(({ subject }) => subject ?? 'prod')).toEqual(subjects);
  });

  it.each([
    ['since=2026-02-30T18:00', 'since: is not a time, such as 2026-11-22T18:00'],
    ['since=12h', 'since: is not a time, such as 2026-11-22T18:00'],
    ['until=22%20Nov', 'until: is not a time, such as 2026-11-22T18:00'],
    ['cursor=2', 'cursor: is not a next_cursor'],
  ])('refuses the invalid parameter %s instead of ignoring it', async (query, says) => {
    expect(await read(`/api/changes?${query}`)).toBe(`${says}\n`);
  });

  it('reports a time that cannot be read', async () => {
    const page = toText(await read('/changes?since=18:00'));
    expect(page).toContain('since: is not a time, such as 2026-11-22T18:00. Show all');
    expect(page).not.toContain('keys/db/prod');
  });

  it('returns all keys as JSON', async () => {
    const answer = JSON.parse(await read('/api/changes?kind=restart')) as unknown;
    expect(answer).toEqual({
      changes: [
        {
          time: at(30),
          server: 'prod',
          project: null,
          kind: 'restart',
          subject: null,
          what: 'restarted',
          after: '2026-03-02T02:30:00.000Z',
          before: '2026-03-02T02:40:00.000Z',
          at: null,
          by: null,
        },
      ],
      next_cursor: null,
    });
  });

  it('lets programs read all changes, even if many have the same time', async () => {
    const many = Array.from({ length: 1700 }, (_none, index) =>
      change({ subject: `pay/${index}`, beforeMs: at(index < 200 ? 1 : index < 1600 ? 2 : 3) }),
    );
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < 10; pages += 1) {
      const page = JSON.parse(await read(`/api/changes?cursor=${cursor}`, many)) as Page;
      seen.push(...page.changes.map(({ subject }) => subject));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(many.map(({ subject }) => subject));
  });
});

type Page = { readonly changes: readonly { readonly subject: string }[]; readonly next_cursor: string | null };
