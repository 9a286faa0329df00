import { describe, expect, it } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import { type Area, type Fields, noteReading } from '../../src/diagnosis/changes/deciding/areas.ts';
import type { Change } from '../../src/diagnosis/changes/deciding/change.ts';
import { findSuspects, isBetween, scopes } from '../../src/diagnosis/changes/deciding/suspects.ts';
import { explainFailure, type FailedRun } from '../../src/diagnosis/changes/explain.ts';
import { type ChangeFilter, changeFields, toChangeChoice } from '../../src/http/pages/changes/change-filter.ts';
import { ofFailure, renderSuspects } from '../../src/http/pages/changes/suspects.ts';
import { birthMs } from '../executions/scene.ts';
import { toText } from '../http/page-text.ts';
import { countSuspects } from './planted.ts';
import { createScene } from './scene.ts';

const key = 'keys/team/pay/node.pem';
const minuteMs = 60_000;

/** A job that succeeded at minute 70, and its next run. */
async function begin() {
  const made = createScene();
  made.control.createProject('pay', ['db01', 'db02']);
  made.control.writeKey(key, { user: 'admin' });
  const id = made.control.createJob('pay', {
    name: 'settle',
    work: work(['db01'], [command('settle', 1, 0, { key })]),
  });
  await made.minutes(70);
  made.control.runJob(id);
  await made.minutes(2);
  return { ...made, id };
}

function failed(given: Partial<FailedRun> = {}): FailedRun {
  return {
    project: 'pay',
    job: 'settle',
    startedAtMs: birthMs + 80 * minuteMs,
    successMs: birthMs + 70 * minuteMs,
    failedNodes: ['db01'],
    failureClass: 'access',
    ...given,
  };
}

/** A journal with changes, and readings of the job's definition. */
function toKnown({ definition, changes = [] }: { definition?: Area; changes?: readonly Change[] }) {
  const jobs = { things: new Map([['7', { path: 'settle' }]]), sinceMs: birthMs, readMs: birthMs };
  return {
    areas: new Map([
      ['jobs pay', jobs],
      ...(definition === undefined ? [] : ([['definition 7', definition]] as const)),
    ]),
    runs: new Map(),
    jobOf: () => undefined,
    changes,
    refusalOf: () => undefined,
    toTime: String,
  };
}

function toLines(explanation: ReturnType<ReturnType<typeof createScene>['explain']>): readonly string[] {
  const times = { untilMs: birthMs + 80 * minuteMs, nowMs: birthMs + 90 * minuteMs };
  const about = { server: 'prod', ...times, words: ofFailure, root: '' };
  return toText(`<main>${renderSuspects(explanation, about)?.text}</main>`).split('\n');
}

describe('diagnosis/suspects', () => {
  it('names the right cause first in nine of ten worlds', () => {
    const worlds = 1000;
    const { first, firstThree, fitsWithout, outside } = countSuspects(worlds);
    expect(outside).toBe(0);
    expect(first / worlds).toBeGreaterThanOrEqual(0.9);
    expect(firstThree / worlds).toBeGreaterThanOrEqual(0.98);
    expect(fitsWithout / worlds).toBeLessThanOrEqual(0.02);
  });

  it('puts the key that the definition names before other keys', async () => {
    const { control, minutes, explain } = await begin();
    await minutes(3);
    control.writeKey('keys/other', { user: 'lee' });
    control.writeKey(key, { user: 'bob', isWrong: true });
    control.createJob('pay', { name: 'innocent' });
    await minutes(60);
    const { suspects } = explain(failed());
    expect(suspects.map(({ subject, by, fits, scope }) => [subject, by, fits, scope])).toEqual([
      [key, 'bob', true, 'job'],
      ['keys/other', 'lee', false, 'server'],
    ]);
  });

  it('names only changes between the last success and the failure', async () => {
    const { control, minutes, explain } = await begin();
    control.writeKey(key, { user: 'early' });
    await minutes(10);
    control.writeKey(key, { user: 'late' });
    await minutes(60);
    const times = { successMs: birthMs + 73 * minuteMs, startedAtMs: birthMs + 81 * minuteMs };
    expect(explain(failed(times)).suspects).toEqual([]);
  });

  it('suspects a new way of starting a run only for runs that were started in this way', async () => {
    const { control, minutes, explain, truth, id } = await begin();
    const find = async (given: { readonly user?: string } = {}) => {
      control.runJob(id, given);
      await minutes(2);
      const { startedAtMs = 0 } = truth().executions.findLast(({ jobId }) => jobId === id) ?? {};
      const { suspects } = explain(failed({ startedAtMs, failureClass: 'work' }));
      return suspects.filter(({ kind }) => kind === 'run').map(({ what }) => what);
    };
    control.setConditions({ downNodes: ['db01'] });
    expect(await find({ user: 'jonas' })).toEqual(['user']);
    expect(await find()).toEqual([]);
    expect(await find({ user: 'lee' })).toEqual(['user']);
  });

  it.each([
    // The success began at 10.4 s and the failure at 20 s; the server reports whole seconds.
    ['in the second of the success', { atMs: 10_000 }, true],
    ['in the second before it', { atMs: 9_000 }, false],
    ['with the failure', { atMs: 20_000 }, true],
    ['after it', { atMs: 20_001 }, false],
    ['at some time that begins before the success', { afterMs: 0, beforeMs: 10_401 }, true],
    ['at some time until the success', { afterMs: 0, beforeMs: 10_400 }, false],
    ['at some time that ends after the failure', { afterMs: 19_999, beforeMs: 30_000 }, true],
    ['at some time after it', { afterMs: 20_000, beforeMs: 30_000 }, false],
  ])('ranks a change %s', (_when, times, isSuspect) => {
    const change = { kind: 'key', project: '', subject: key, what: '', afterMs: 0, beforeMs: 0, ...times } as const;
    expect(isBetween(change, 10_400, 20_000)).toBe(isSuspect);
  });

  it('does not blame a change if the same failure happened before', () => {
    const at = (minute: number) => birthMs + minute * minuteMs;
    const edit = { kind: 'definition', project: 'pay', subject: 'pay/settle', what: 'steps changed' } as const;
    const changes = [71, 78].map((minute) => ({ ...edit, afterMs: at(minute), beforeMs: at(minute + 1) }));
    const find = (seen: FailedRun['seen']) => {
      const { suspects } = explainFailure(failed({ seen, failureClass: 'work' }), toKnown({ changes }));
      return suspects.map(({ afterMs, fits }) => [(afterMs - birthMs) / minuteMs, fits]);
    };
    const both = [
      [78, true],
      [71, true],
    ];
    expect(find(undefined)).toEqual(both);
    // The same failure happened before the last success, not after it.
    expect(find({ firstMs: at(60), beforeMs: at(61) })).toEqual(both);
    for (const seen of [{ firstMs: at(75) }, { firstMs: at(60), beforeMs: at(75) }])
      expect(find(seen)).toEqual([
        [71, true],
        [78, false],
      ]);
  });

  it.each([
    [29, true],
    [31, false],
  ])('blames a restart %d minutes before a failure: %s', (minutes, fits) => {
    const startedAtMs = 100 * minuteMs;
    const about = { project: 'pay', job: 'pay/settle', startedAtMs, successMs: 0, failureClass: 'system' } as const;
    const failure = { ...about, failedNodes: [], keys: undefined, children: new Set<string>() };
    // The exporter noticed the change only after the failure.
    const times = { atMs: startedAtMs - minutes * minuteMs, afterMs: 0, beforeMs: startedAtMs + minuteMs };
    const restart = { kind: 'restart', project: '', subject: '', what: 'restarted', ...times } as const;
    expect(findSuspects(failure, [restart])).toMatchObject([{ scope: 'server', fits }]);
  });

  it.each([
    // The server was last seen before its restart at minute 10, and started again at minute 12.
    ['ended while the server stopped', 5, 10.1, 1],
    ['ended when the server started again', 5, 12.1, 1],
    ['ended before', 5, 9.9, 0],
    ['began after', 12.1, 13, 0],
    ['ended an hour later, as on another member', 5, 72, 0],
  ])('names the restart of the server as the cause of a failure that %s', (_when, began, ended, count) => {
    const restart = { kind: 'restart', project: '', subject: 'node0', what: 'restarted' } as const;
    const times = { atMs: 12 * minuteMs, afterMs: 10 * minuteMs, beforeMs: 13 * minuteMs };
    const run = { startedAtMs: began * minuteMs, endedAtMs: ended * minuteMs, failureClass: 'work' } as const;
    for (const successMs of [undefined, 0]) {
      const failure = { ...failed(), ...run, successMs, keys: undefined, children: new Set<string>() };
      const found = findSuspects(failure, [{ ...restart, ...times }]).filter(({ fits }) => fits);
      expect(found).toHaveLength(count);
    }
  });

  it('shows that the server restarted when a run ended', async () => {
    const { control, minutes, explain } = await begin();
    await minutes(9);
    control.restart();
    await minutes(2);
    const run = failed({ endedAtMs: birthMs + 81 * minuteMs + 1000, successMs: undefined, job: 'other' });
    expect(toLines(explain(run)).slice(2)).toEqual([
      'restart auto-1: restarted, 13:21 UTC (9 min ago) (of the server, as it ended, fits the failure)',
    ]);
    expect(explain({ ...run, successMs: birthMs }).unchanged).not.toContain('the server');
  });

  it('lists areas that did not change, and areas that were not watched', async () => {
    const { minutes, explain } = await begin();
    await minutes(70);
    const none = { ...explain(failed()), unchanged: [] };
    expect(toLines(none)[1]).toMatch(/^Unknown: nothing was watched continuously between the start/);
    expect(toLines(explain(failed()))).toEqual([
      'What changed',
      'No visible change between the start of the last success (13:10 UTC) and this failure (13:20 UTC).',
      'Unchanged: the name and switches of the job, keys, nodes, the project, the server.',
      '1 thing not watched continuously',
      'the definition of the job: last read at 12:01 UTC',
      'All changes between these times',
    ]);
  });

  it('never lists a changed area as unchanged', async () => {
    const { control, minutes, explain } = await begin();
    await minutes(3);
    for (let index = 0; index < 6; index += 1) control.writeKey(`keys/other${index}`, { user: 'lee' });
    control.setExecutionMode('passive');
    await minutes(67);
    const { suspects, unchanged } = explain(failed());
    expect(suspects.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => 'key'));
    expect(unchanged).toEqual(['the name and switches of the job', 'nodes', 'the project']);
  });

  it('does not list keys as unchanged if a folder was not read before the success', async () => {
    const { control, minutes, explain } = await begin();
    control.writeKey('keys/new/folder/a.pem', { user: 'lee' });
    await minutes(68);
    const { unchanged, notWatched } = explain(failed());
    expect(unchanged).not.toContain('keys');
    expect(notWatched.find(({ what }) => what === 'keys')?.reason).toMatch(/^first read at/);
  });

  it('lists nodes as unchanged only after a second reading', async () => {
    const { minutes, explain } = await begin();
    await minutes(20);
    const { unchanged, notWatched } = explain(failed());
    expect(unchanged).not.toContain('nodes');
    expect(notWatched.find(({ what }) => what === 'nodes')?.reason).toBe('last read at 13:16 UTC');
    await minutes(15);
    expect(explain(failed()).unchanged).toContain('nodes');
  });

  it('lists the definition as not watched during an upgrade of the server', () => {
    const read = (known: Area | undefined, minute: number, basis: string) => {
      const fromMs = birthMs + minute * minuteMs;
      const reading = { area: '', things: new Map([['', { steps: basis }]]), basis, fromMs, throughMs: fromMs };
      return noteReading(known, reading).area;
    };
    const upgraded = read(read(undefined, 1, '5.20.1'), 81, '6.1.0');
    for (const definition of [upgraded, read(upgraded, 90, '6.1.0')])
      expect(explainFailure(failed(), toKnown({ definition })).notWatched).toContainEqual({
        what: 'the definition of the job',
        reason: `the server had another release until ${birthMs + 81 * minuteMs}`,
      });
    const same = read(read(undefined, 1, '5.20.1'), 81, '5.20.1');
    expect(explainFailure(failed(), toKnown({ definition: same })).unchanged).toContain('the definition of the job');
  });

  it('lists an area as unchanged only if the token can read it', () => {
    const read = { sinceMs: birthMs, readMs: birthMs + 90 * minuteMs };
    const find = (named: string, server: Fields, project: Fields) => {
      const areas = new Map<string, Area>([
        ...toKnown({ definition: { ...read, things: new Map([['', { '.keys': named }]]) } }).areas,
        ['keys ', { ...read, things: new Map([[key, { modified: '1' }]]) }],
        ['projects', { ...read, things: new Map([['pay', project]]) }],
        ['server', { ...read, things: new Map([['', { release: '5.20.1', ...server }]]) }],
      ]);
      const { unchanged, notWatched } = explainFailure(failed(), { ...toKnown({}), areas });
      const isOne = (what: string) => ['keys', 'the project', 'the server'].includes(what);
      return [...unchanged.filter(isOne), ...notWatched.filter(({ what }) => isOne(what)).map(({ reason }) => reason)];
    };
    expect(find(key, { start: '1' }, { executions: 'on' })).toEqual(['keys', 'the project', 'the server']);
    expect(find(`${key}\nkeys/hidden`, {}, {})).toEqual([
      'the server does not show keys/hidden to the token',
      'the server does not show the switches of the project to the token',
      'the token cannot read the start time of the server',
    ]);
  });

  it('reports that a job never succeeded', async () => {
    const { explain } = await begin();
    expect(toLines(explain(failed({ job: 'other', successMs: undefined })))).toEqual([
      'What changed',
      'No earlier success of this job is known, so there is nothing to compare with.',
    ]);
  });

  it('links to all changes between the success and the failure', () => {
    const change = { kind: 'node', project: 'pay', subject: 'db03', what: 'added', afterMs: 0, beforeMs: 0 } as const;
    const suspects = scopes.map((scope) => ({ ...change, scope, fits: false }));
    const about = { server: 'prod', untilMs: 60_000, nowMs: 60_000, words: ofFailure, root: '' };
    const explanation = { successMs: 0, suspects, unchanged: [], notWatched: [], commonCause: undefined };
    const page = renderSuspects(explanation, about)?.text ?? '';
    const places = ['of this job', 'of a job that it runs', 'of a node that failed', 'of its project', 'of the server'];
    expect([...page.matchAll(/\((of [^)]*)\)<\/span>/g)].map(([, place]) => place)).toEqual(places);
    expect(page).toContain(
      'changes?server=prod&#38;since=1970-01-01T00%3A00%3A00.000Z&#38;until=1970-01-01T00%3A01%3A00.001Z"',
    );
  });

  it('links to changes in the second of the success', () => {
    const at = (kind: Change['kind'], atMs: number) =>
      ({
        server: 'prod',
        kind,
        project: 'pay',
        subject: 'pay/settle',
        what: '',
        afterMs: 0,
        beforeMs: atMs,
        atMs,
      }) as const;
    // The server reports whole seconds.
    const changes = [at('key', 10_000), at('run', 20_500)];
    const { suspects } = explainFailure(
      failed({ successMs: 10_400, startedAtMs: 20_500, failureClass: 'work' }),
      toKnown({ changes }),
    );
    expect(suspects.length).toBe(2);
    const about = { server: 'prod', untilMs: 20_500, nowMs: 60_000, words: ofFailure, root: '' };
    const page = renderSuspects({ successMs: 10_400, suspects, unchanged: [], notWatched: [] }, about)?.text ?? '';
    const query = new URLSearchParams(/href="changes\?([^"]*)"/.exec(page)?.[1]?.replaceAll('&#38;', '&'));
    const filter = Object.fromEntries(changeFields.map((field) => [field, query.get(field) ?? ''])) as ChangeFilter;
    expect(changes.filter(toChangeChoice(filter))).toEqual(changes);
  });
});
