import { describe, expect, it } from 'vitest';
import { type Area, type Fields, noteReading } from '../../src/diagnosis/changes/deciding/areas.ts';
import type { Change } from '../../src/diagnosis/changes/deciding/change.ts';
import {
  addChanges,
  emptyJournal,
  type Journal,
  listChanges,
  maxAgeMs,
} from '../../src/diagnosis/changes/deciding/journal.ts';
import { toChanges } from '../../src/diagnosis/changes/deciding/kinds.ts';
import { readKept, withoutOldReads } from '../../src/diagnosis/changes/documents.ts';
import { createKeptJournal } from '../../src/diagnosis/changes/kept-journal.ts';
import type { LedgerDocument } from '../../src/state/ledger.ts';
import { createScene } from './scene.ts';

let scene: ReturnType<typeof createScene>;

async function begin(...given: Parameters<typeof createScene>) {
  scene = createScene(...given);
  scene.control.createProject('pay');
  const id = scene.control.createJob('pay', {
    group: 'nightly',
    name: 'settle',
    schedule: { everyMs: 3_600_000, offsetMs: 1_800_000 },
  });
  await scene.minutes(5);
  return id;
}

it('counts changes that are dropped for lack of space', () => {
  const change = (beforeMs: number): Change => ({
    kind: 'key',
    project: 'pay',
    subject: 'a',
    what: 'new',
    afterMs: beforeMs,
    beforeMs,
  });
  const add = (journal: Journal, count: number, atMs: number) =>
    addChanges(
      journal,
      Array.from({ length: count }, () => change(atMs)),
      atMs,
    ).journal;
  const full = add(emptyJournal, 20_000, 0);
  expect([full.dropped, add(full, 1, 1000).dropped]).toEqual([0, 50]);
  const later = add(full, 1, maxAgeMs + 1);
  expect([later.dropped, listChanges(later, maxAgeMs + 1).length, later.totals.get('key pay')?.count]).toEqual([
    0, 1, 20_001,
  ]);
  // A new change is kept although all other changes are too old.
  const mixed = add(add(emptyJournal, 10, 0), 1, maxAgeMs + 1);
  expect(listChanges(mixed, maxAgeMs + 1)).toHaveLength(1);
});

it('compares a value with the last reading that contained the value', () => {
  const read = (known: Area | undefined, fields: Fields, atMs: number) =>
    noteReading(known, { area: 'jobs pay', things: new Map([['7', fields]]), fromMs: atMs, throughMs: atMs });
  const first = read(undefined, { executions: 'on', schedule: 'on' }, 1);
  const second = read(first.area, { schedule: 'on' }, 2);
  const third = read(second.area, { executions: 'off', schedule: 'on' }, 3);
  expect([second.differences, third.differences]).toMatchObject([[], [{ changed: ['executions'] }]]);
});

describe('diagnosis/journal', () => {
  it('records no change for the first reading', async () => {
    await begin();
    expect(scene.told()).toEqual([]);
    expect(scene.shown()).toEqual([]);
  });

  it('records jobs that were created, renamed, moved, switched or deleted between two readings', async () => {
    const id = await begin();
    const other = scene.control.createJob('pay', { name: 'other' });
    await scene.minutes(1);
    scene.control.changeJob(id, { name: 'settle-all' });
    await scene.minutes(1);
    scene.control.changeJob(id, { group: 'daily', scheduleEnabled: false });
    scene.control.deleteJob(other);
    await scene.minutes(1);
    expect(scene.told().toSorted()).toEqual([
      'job pay/daily/settle-all: moved, was nightly/settle-all (7, 8]',
      'job pay/nightly/settle-all: renamed, was nightly/settle (6, 7]',
      'job pay/other: created (5, 6]',
      'job pay/other: no longer listed (7, 8]',
      'switch pay/daily/settle-all: schedule switched off (7, 8]',
    ]);
  });

  it('records jobs and projects that become readable again as `listed again`', async () => {
    const token = 'of-a-changing-policy';
    await begin({ token });
    const policy = { systemRead: false, nodes: [] };
    for (const hidden of [{ jobs: [] }, {}, { projects: [] }, {}]) {
      scene.control.addToken({ token, policy: { ...policy, ...hidden } });
      await scene.minutes(5);
    }
    expect(scene.told().map((line) => line.split(' (')[0])).toEqual([
      'project pay: listed again',
      'project pay: no longer listed',
      'job pay/nightly/settle: listed again',
      'job pay/nightly/settle: no longer listed',
    ]);
  });

  it('records a key that could not be read for a while as listed again', () => {
    const given = { sinceMs: 0, jobOf: () => undefined, wasRead: () => false };
    const [hour, id] = [3_600_000, 'keys/db.pem'];
    const found = (atMs: number) => {
      const after = { modified: String(atMs), '.at': String(atMs) };
      return { id, before: undefined, after, changed: [], afterMs: 10 * hour, beforeMs: 11 * hour };
    };
    const changes = toChanges('keys ', given, [found(hour), found(10.5 * hour)]);
    expect(changes.map(({ what, atMs }) => [what, atMs])).toEqual([
      ['listed again', undefined],
      ['new', 10.5 * hour],
    ]);
  });

  it('counts changes from 0 again after a restore', async () => {
    const stored = new Map(
      [
        { kind: 'restored', key: 'changes', body: 'true' },
        { kind: 'restored', key: 'executions', body: 'true' },
        { kind: 'change-totals', key: '', body: '{"totals":[{"project":"pay","kind":"job","count":7}],"dropped":0}' },
      ].map((document): [string, LedgerDocument] => [`${document.kind} ${document.key}`, document]),
    );
    const open = async () => {
      const kept = createKeptJournal({
        server: 'upstream',
        isRestored: false,
        ledger: { load: async () => [...stored.values()] },
        commit: async (make) => {
          for (const document of make()) {
            stored.set(`${document.kind} ${document.key}`, document);
            if (document.body === undefined) stored.delete(`${document.kind} ${document.key}`);
          }
        },
        serverNowMs: () => 50,
        toKept: (change) => change,
        onLoaded: () => undefined,
      });
      await kept.open();
      return [...kept.journal().totals.values()].map(({ count }) => count);
    };
    expect(await open()).toEqual([]);
    expect([...stored.keys()]).toEqual(['restored executions', 'change-totals ', 'change-secret ']);
  });

  it('records a new job as created, even if it fails before it is listed', async () => {
    let nowMs = 50;
    const kept = createKeptJournal({
      server: 'upstream',
      isRestored: false,
      ledger: { load: async () => [] },
      commit: async () => undefined,
      serverNowMs: () => nowMs,
      toKept: (change) => change,
      onLoaded: () => undefined,
    });
    await kept.open();
    const read = (area: string, atMs: number, ...ids: readonly string[]) =>
      kept.take([{ area, things: new Map(ids.map((id) => [id, { path: id }])), fromMs: atMs, throughMs: atMs }], []);
    await read('jobs pay', 0, 'a');
    await read('definition b', 10, '');
    await read('jobs pay', 20, 'a', 'b');
    await read('jobs pay', 30, 'a');
    await read('jobs pay', 40, 'a', 'b');
    const told = listChanges(kept.journal(), 50).map(({ subject, what }) => `${subject} ${what}`);
    expect(told).toEqual(['pay/b listed again', 'pay/b no longer listed', 'pay/b created']);
    // The edits of a forgotten job are forgotten too.
    nowMs += maxAgeMs;
    await read('edit b', 45, '');
    await read('jobs pay', nowMs, 'a');
    expect([...kept.areas.keys()]).toEqual(['jobs pay']);
  });

  it.each([46, 47])('records restarts, releases, modes and projects of the server, with API %d', async (apiVersion) => {
    await begin({ apiVersion });
    scene.control.setExecutionMode('passive');
    scene.control.createProject('search');
    scene.control.changeProject('pay', { executionsEnabled: false });
    await scene.minutes(1);
    scene.control.restart();
    await scene.minutes(1);
    expect(scene.told().toSorted()).toEqual([
      'mode auto-1: passive, was active (5, 6]',
      'project pay: executions switched off (5, 6]',
      'project search: first listed (5, 6]',
      'restart auto-1: restarted (6, 7]',
    ]);
  });

  it('shows each new counter as 0 first', async () => {
    await begin();
    scene.control.setExecutionMode('passive');
    await scene.minutes(1);
    expect(scene.shown()).toEqual(['automation_changes_total{project="",kind="mode"} 0']);
    await scene.minutes(1);
    expect(scene.shown()).toEqual(['automation_changes_total{project="",kind="mode"} 1']);
  });

  it('finds changes that happened while the exporter did not run', async () => {
    const id = await begin();
    scene.control.changeJob(id, { enabled: false });
    await scene.minutes(1);
    scene.away(30);
    scene.control.changeJob(id, { enabled: true });
    await scene.minutes(1);
    expect(scene.told()).toEqual([
      'switch pay/nightly/settle: executions switched on (6, 37]',
      'switch pay/nightly/settle: executions switched off (5, 6]',
    ]);
    expect(scene.shown()).toEqual(['automation_changes_total{project="pay",kind="switch"} 2']);
  });

  it('forgets a job that has not been listed for a month', async () => {
    const id = await begin();
    const other = scene.control.createJob('pay', { name: 'other' });
    const definitions = async (): Promise<readonly string[]> =>
      (await scene.stored()).flatMap(({ kind, key }) =>
        kind === 'change-area' && key.startsWith('definition ') ? key : [],
      );
    await scene.minutes(3);
    expect((await definitions()).toSorted()).toEqual([`definition ${id}`, `definition ${other}`].toSorted());
    scene.control.deleteJob(other);
    await scene.minutes(1);
    scene.away(31 * 1440);
    await scene.minutes(2);
    expect(await definitions()).toEqual([`definition ${id}`]);
    expect(scene.told()).toEqual([]);
  });

  it('continues with the state of the first release', () => {
    const area = { things: [], sinceMs: 1, readMs: 3 };
    const kept = readKept([
      { kind: 'change-area', key: 'server', body: JSON.stringify(area) },
      { kind: 'change-reads', key: '', body: '[["server",7,5]]' },
    ]);
    expect(kept.areas.get('server')).toMatchObject({ readMs: 7, lastReadMs: 5 });
    const documents = [{ kind: 'change-area', key: 'server', body: JSON.stringify(area) }, ...withoutOldReads(kept)];
    const again = readKept(documents.filter(({ body }) => body !== undefined));
    expect([again.areas, again.hasOldReads]).toEqual([kept.areas, false]);
  });

  it('removes a duplicate entry without a UUID of an earlier release', () => {
    const toThings = (...things: readonly unknown[]): readonly string[] => {
      const body = JSON.stringify({ things, sinceMs: 1, readMs: 3 });
      return [
        ...(readKept([{ kind: 'change-area', key: 'server', body }])
          .areas.get('server')
          ?.things.keys() ?? []),
      ];
    };
    expect(toThings(['', { mode: 'active' }], ['a-uuid', { start: '1' }])).toEqual(['a-uuid']);
    expect(toThings(['', { mode: 'active', start: '1' }])).toEqual(['']);
  });

  it('records no changes of projects and jobs that are not watched', async () => {
    await begin({ settings: { isWantedJob: (path) => !path.endsWith('secret') } });
    scene.control.createJob('pay', { name: 'secret' });
    await scene.minutes(1);
    expect(scene.told()).toEqual([]);
  });
});
