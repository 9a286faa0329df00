import { describe, expect, it } from 'vitest';
import type { Surroundings } from '../../../src/domain/failure-class.ts';
import { sourceKeys } from '../../../src/expected-runs/deciding/sources.ts';
import type { Timeline } from '../../../src/expected-runs/deciding/timeline.ts';
import type { WatchedJob } from '../../../src/expected-runs/deciding/watched-job.ts';
import type { FailingNode } from '../../../src/expected-runs/risks/nodes.ts';
import { findLasting } from '../../../src/expected-runs/risks/risk.ts';
import { toRiskRows } from '../../../src/expected-runs/showing/rows.ts';
import { hourMs, job, minuteMs, noSurroundings, nowMs, risksOf } from './some-risks.ts';

const since = (value: string, ago: number) => [{ value, fromMs: nowMs - ago, throughMs: nowMs }];

describe('expected-runs/risks/find-risks', () => {
  it('finds no risk if there is no trouble', async () => {
    expect(await risksOf([job('a', [10, 20, 13 * 60])])).toMatchObject({
      expected: 2,
      atRisk: 0,
      troubles: [],
      runs: [],
    });
  });

  it('lists all runs of a passive server', async () => {
    const sources = new Map([[sourceKeys.mode(), since('passive', hourMs)]]);
    const found = await risksOf(
      [job('a', [10, 20]), job('critical', [5]), job('off', [1], { off: [{ what: 'job', sinceMs: 0, seenAtMs: 0 }] })],
      { sources },
    );
    expect(found).toMatchObject({ jobCount: 3, expected: 3, atRisk: 3 });
    expect(found.troubles).toMatchObject([
      {
        reason: 'passive',
        subject: '',
        sinceMs: nowMs - hourMs,
        count: 3,
        jobCount: 2,
        firstJob: { name: 'critical' },
      },
    ]);
    expect(found.runs).toMatchObject([
      { job: { name: 'critical' }, isCritical: true, count: 1 },
      {
        job: { name: 'a' },
        isCritical: false,
        count: 2,
        firstMs: nowMs + 10 * minuteMs,
        lastMs: nowMs + 20 * minuteMs,
      },
    ]);
    // Only the next run has a series.
    const rowsOf = (isNext: boolean) =>
      toRiskRows({ day: { ...found, runs: found.runs.map((run) => ({ ...run, isNext })) } }, 'day');
    expect(rowsOf(true).length - rowsOf(false).length).toBe(2);
  });

  it.each(['executions_disabled', 'schedule_disabled'] as const)(
    'lists the known times of a project that has %s',
    async (reason) => {
      const sources = new Map([[sourceKeys.project('pay'), since(reason, hourMs)]]);
      const found = await risksOf([job('a', [10]), job('new', undefined), job('b', [10], { project: 'shop' })], {
        sources,
      });
      expect(found).toMatchObject({ atRisk: 1, untimed: { count: 1, switchedOff: 1 } });
      expect(found.troubles).toMatchObject([{ reason, subject: 'pay', count: 1 }]);
    },
  );

  it('lists a job whose last three runs failed', async () => {
    const failedMs = [3, 2, 1].map((hours) => nowMs - (4 - hours) * hourMs);
    const facts = (consecutiveFailures: number) => () => ({ consecutiveFailures, failedMs, lastFailedId: 7 });
    expect((await risksOf([job('a', [10])], { factsOf: facts(2) })).atRisk).toBe(0);
    expect((await risksOf([job('a', [10])], { factsOf: facts(3) })).troubles).toMatchObject([
      {
        reason: 'job_failing',
        subject: 'pay/a',
        sinceMs: nowMs - 3 * hourMs,
        evidence: 'the last 3 runs failed, the last is #7',
      },
    ]);
    // After very many failures, the time of the first is unknown.
    const [trouble] = (await risksOf([job('a', [10])], { factsOf: facts(21) })).troubles;
    expect([trouble?.sinceMs, trouble?.evidence]).toEqual([undefined, 'the last 21 runs failed, the last is #7']);
  });

  it('lists a job that runs a failing job as a step', async () => {
    const risksAfter = async (lastSuccessMs: number) => {
      const failing = { consecutiveFailures: 3, lastFailedMs: nowMs - hourMs, lastSuccessMs: nowMs - 9 * hourMs };
      const found = await risksOf([job('a', [10])], {
        factsOf: (_project, _group, name) => (name === 'a' ? { consecutiveFailures: 0, lastSuccessMs } : failing),
        surroundings: { ...noSurroundings, childrenOf: () => [{ project: 'pay', group: '', name: 'step' }] },
      });
      return found.troubles.map(({ reason, subject }) => [reason, subject]);
    };
    expect(await risksAfter(nowMs - 2 * hourMs)).toEqual([['child_failing', 'pay/step']]);
    expect(await risksAfter(nowMs - minuteMs)).toEqual([]);
  });

  it('lists a job whose last two runs failed with the same lines', async () => {
    const failedMs = [nowMs - hourMs, nowMs - 2 * hourMs];
    const facts = (beforeMs: number | undefined, id = 7) => ({
      factsOf: () => ({
        consecutiveFailures: 2,
        failedMs,
        lastFailedId: 7,
        lastFailure: { id, failureClass: 'work' as const, lines: { fingerprint: 'f', isNew: false, beforeMs } },
      }),
    });
    expect((await risksOf([job('a', [10])], facts(failedMs[1]))).troubles).toMatchObject([
      { reason: 'job_failing', evidence: 'the last 2 runs failed with the same lines in their logs, the last is #7' },
    ]);
    for (const other of [facts(undefined), facts(nowMs - 9 * hourMs), facts(failedMs[1], 6)])
      expect((await risksOf([job('a', [10])], other)).atRisk).toBe(0);
  });

  it('lists a job whose login was refused', async () => {
    const lastFailure = { id: 7, failureClass: 'access' as const };
    const failed = { lastFailedId: 7, lastFailedMs: nowMs - hourMs, lastFailure };
    const refused = (consecutiveFailures: number, unchangedMs: number | undefined) => ({
      factsOf: () => ({ ...failed, consecutiveFailures }),
      surroundings: { ...noSurroundings, accessUnchangedMs: () => unchangedMs },
    });
    expect((await risksOf([job('a', [10])], refused(1, nowMs - 58 * minuteMs))).troubles).toMatchObject([
      {
        reason: 'access',
        subject: 'pay/a',
        text: 'pay/a is refused access',
        sinceMs: nowMs - hourMs,
        evidence: '#7 was refused at 17:00 UTC, and no key of the job had changed by 17:02 UTC',
      },
    ]);
    // The earlier failures may have had another cause.
    expect((await risksOf([job('a', [10])], refused(2, nowMs))).troubles[0]).toMatchObject({ sinceMs: undefined });
    for (const other of [refused(1, undefined), refused(0, nowMs)])
      expect((await risksOf([job('a', [10])], other)).atRisk).toBe(0);
  });

  it('counts runs as not judged if the facts or the nodes of their job are unknown', async () => {
    expect(await risksOf([job('a', [10, 20])], { factsOf: () => undefined })).toMatchObject({ atRisk: 0, unjudged: 2 });
    const { nodes: _none, ...unplaced } = job('a', [10, 20]);
    expect(await risksOf([unplaced])).toMatchObject({ atRisk: 0, unjudged: 2 });
  });

  it('counts jobs of which only the next time is known', async () => {
    const { timetable, ...next } = job('a', [10]);
    const only = timetable && { ...timetable, source: 'next-run' as const, untilMs: nowMs + 10 * minuteMs };
    const later = only && { ...only, untilMs: nowMs + 20 * hourMs, timesMs: [nowMs + 20 * hourMs] };
    const jobs = [
      { ...next, ...(only && { timetable: only }) },
      { ...next, ...(later && { timetable: later }) },
    ];
    expect(await risksOf(jobs)).toMatchObject({ expected: 1, untimed: { count: 1, switchedOff: 0 } });
  });

  it('does not blame a node for a failing child job or key', async () => {
    const node: FailingNode = { node: 'db01', sinceMs: nowMs - hourMs, lastMs: nowMs, jobs: ['pay/x', 'pay/y'] };
    const riskOf = async (around: Partial<Surroundings>, failureClass: 'access' | 'work' = 'access') => {
      const lastFailure = { id: 7, failureClass };
      const factsOf = (_project: string, _group: string, name: string) =>
        name === 'a'
          ? { consecutiveFailures: 0 }
          : { consecutiveFailures: 1, jobId: name, lastFailedId: 7, lastFailure, failedMs: [nowMs - hourMs] };
      const surroundings = { ...noSurroundings, ...around };
      return (await risksOf([job('a', [10])], { nodes: new Map([['db01', node]]), factsOf, surroundings })).atRisk;
    };
    const toChildren = (...names: readonly string[]) => ({
      childrenOf: (id: string) => (names.includes(id) ? [{ project: 'pay', group: '', name: 'y' }] : []),
    });
    const sameKey = { keysOf: () => ['keys/db'] };
    expect(await riskOf({})).toBe(1);
    expect(await riskOf(toChildren('x'))).toBe(0);
    expect(await riskOf(toChildren('other'))).toBe(1);
    expect(await riskOf(sameKey)).toBe(0);
    expect(await riskOf({ keysOf: (id) => [`keys/${id}`] })).toBe(1);
    // The key of the login was not the cause.
    expect(await riskOf(sameKey, 'work')).toBe(1);
  });

  it('lists the jobs whose usual nodes fail in several jobs', async () => {
    const failing = (node: string, ...jobs: readonly string[]): [string, FailingNode] => [
      node,
      { node, sinceMs: nowMs - hourMs, lastMs: nowMs, jobs },
    ];
    const nodes = new Map([failing('db03', 'pay/x', 'pay/y'), failing('db01', 'pay/x')]);
    const jobs = [job('a', [10], { nodes: { db01: 5, db03: 1 } }), job('b', [10])];
    const found = await risksOf(jobs, { nodes });
    expect(found.troubles).toMatchObject([
      {
        reason: 'node_failing',
        subject: 'db03',
        text: 'node db03 fails everywhere',
        evidence: 'pay/x and pay/y failed on the node, and no job has succeeded on it since',
        sinceMs: nowMs - hourMs,
        count: 1,
      },
    ]);
    expect(found.runs).toMatchObject([{ job: { name: 'a' } }]);
    // If no other node is known, the jobs may be the cause.
    const only = await risksOf(jobs, { nodes, surroundings: { ...noSurroundings, nodeCountOf: () => 1 } });
    expect(only.troubles).toMatchObject([
      {
        text: 'several jobs fail on node db03',
        evidence:
          'pay/x and pay/y failed on the node, and no job has succeeded on it since; the jobs have no other node, so the jobs may be the cause',
      },
    ]);
  });

  it('lists starts that overlap the previous run', async () => {
    const durationMs = () => 12 * minuteMs;
    const times = [0.5, 10, 11, 20, 23, 30, 60];
    const running = new Map([['a', [{ id: 1, startedAtMs: nowMs - minuteMs, kind: 'scheduled' as const }]]]);
    const found = await risksOf([job('a', times)], { durationMs, running });
    // The current run ends in 11 min, the next in 23, and the third in 30.
    expect(found.runs).toMatchObject([{ count: 4, firstMs: nowMs + 0.5 * minuteMs, lastMs: nowMs + 30 * minuteMs }]);
    expect((await risksOf([job('a', times, { allowsSeveral: true })], { durationMs, running })).atRisk).toBe(0);
    // A run that is overdue for 18 min may take 18 min more, and the next run may end in 32 min.
    const overdue = new Map([['a', [{ id: 7, startedAtMs: nowMs - 30 * minuteMs, kind: 'scheduled' as const }]]]);
    const unread = await risksOf([job('a', times)], { durationMs, running: overdue });
    expect(unread.troubles[0]?.evidence).toMatch(/and the job may not allow two runs at once \(its definition/);
    const single = { definition: { allowsSeveral: false, askedAtMs: 0 } };
    expect((await risksOf([job('a', times, single)], { durationMs, running: overdue })).troubles).toMatchObject([
      {
        text: 'pay/a, which usually takes 12 min, has been running',
        evidence: '#7 has not ended, and the job does not allow two runs at once',
        sinceMs: nowMs - 30 * minuteMs,
        executionId: 7,
        count: 3,
      },
      { text: 'pay/a usually takes 12 min, longer than the time to its next start', count: 2 },
    ]);
  });

  it('lists starts beyond the number of runs that a job allows at once', async () => {
    const durationMs = () => 25 * minuteMs;
    const two = { definition: { allowsSeveral: true, mostAtOnce: 2, askedAtMs: 0 } };
    // Runs in progress end after 5 and 24 min; the start at 6 min ends at 31, and the start at 24 min ends at 49.
    const startedMs = [nowMs - 20 * minuteMs, nowMs - minuteMs];
    const running = startedMs.map((startedAtMs, id) => ({ id, startedAtMs, kind: 'scheduled' as const }));
    const given = { durationMs, running: new Map([['a', running]]) };
    const found = await risksOf([job('a', [1, 6, 23, 24, 30, 31], two)], given);
    expect(found.runs).toMatchObject([{ count: 3, firstMs: nowMs + minuteMs, lastMs: nowMs + 30 * minuteMs }]);
    expect(found.troubles).toMatchObject([
      {
        text: 'pay/a usually takes 25 min, so more than 2 runs would overlap',
        evidence: 'one run in four takes even longer, and the job allows only 2 runs at once',
      },
    ]);
  });

  it('lists each start without a free thread only once', async () => {
    const crowds = [{ fromMs: nowMs + 10 * minuteMs, toMs: nowMs + 10 * minuteMs }];
    const factsOf = (_project: string, _group: string, name: string) => ({ consecutiveFailures: name === 'b' ? 3 : 0 });
    const found = await risksOf([job('a', [9, 10, 11]), job('b', [10, 11])], { crowds, factsOf });
    expect(found).toMatchObject({ expected: 5, atRisk: 3 });
    expect(found.runs.map(({ job: { name }, reasons, count }) => [name, reasons, count])).toEqual([
      ['a', ['saturated'], 1],
      ['b', ['job_failing', 'saturated'], 1],
      ['b', ['job_failing'], 1],
    ]);
  });

  it('lists the runs of a member that no longer responds, while the server responds', async () => {
    const contact: [string, ReturnType<typeof since>] = [sourceKeys.contact, since('answered', hourMs)];
    const received = (agoMs: number): [string, ReturnType<typeof since>] => [
      sourceKeys.member('m1'),
      [{ value: 'answered', fromMs: 0, throughMs: nowMs - agoMs }],
    ];
    const owned = [job('a', [10], { ownerUuid: 'm1' }), job('b', [10], { ownerUuid: 'never-seen' })];
    const { atRisk, byReason } = await risksOf(owned, { sources: new Map([contact, received(60_000)]) });
    expect([atRisk, byReason.get('owner_gone')]).toEqual([0, 0]);
    expect((await risksOf(owned, { sources: new Map([received(hourMs)]) })).atRisk).toBe(0);
    expect((await risksOf(owned, { sources: new Map([contact, received(hourMs)]) })).runs).toMatchObject([
      { job: { name: 'a' }, reasons: ['owner_gone'] },
    ]);
  });

  const project = (name: string) => [sourceKeys.project(name), since('active', 5)] as const;
  const members = (value: string) => ['m1', 'm2'].map((uuid) => [sourceKeys.member(uuid), since(value, 5)] as const);
  it.each([
    ['passive', { sources: new Map([...members('seen'), [sourceKeys.mode('m1'), []]]) }],
    ['owner_gone', { sources: new Map([...members('answered'), [sourceKeys.member('m3'), since('seen', 5)]]) }],
    ['executions_disabled', { sources: new Map([...members('seen'), project('pay')]) }],
    ['schedule_disabled', { sources: new Map([...members('seen'), project('pay')]) }],
    ['node_gone', { surroundings: { ...noSurroundings, areNodesRead: true } }],
    ['access', { surroundings: { ...noSurroundings, areKeysRead: true } }],
    ['child_failing', { surroundings: { ...noSurroundings, areDefinitionsRead: true } }],
    ['common_cause', { surroundings: noSurroundings }],
    ['saturated', {}],
  ] as const)('reports 0 runs at risk for the reason %s only if this reason can be known', async (reason, input) => {
    const unknown = { sources: new Map(members('seen')), areThreadsKnown: false };
    expect((await risksOf([], unknown)).byReason.get(reason)).toBeUndefined();
    expect((await risksOf([], input)).byReason.get(reason)).toBe(0);
  });

  it('lists a start without a free thread on the member that runs its job', async () => {
    const [fromMs, owned] = [nowMs + 10 * minuteMs, job('a', [9, 10, 11], { ownerUuid: 'm1' })];
    const atRisk = async (ownerUuid: string) =>
      (await risksOf([owned], { crowds: [{ fromMs, toMs: fromMs, ownerUuid }] })).atRisk;
    expect([await atRisk('m1'), await atRisk('m2')]).toEqual([1, 0]);
  });

  it('names the job with the first run at risk', async () => {
    const sources = new Map([[sourceKeys.mode(), since('passive', hourMs)]]);
    const first = async (...minutes: number[]) => {
      const jobs = minutes.map((minute) => job(`at ${minute}`, [minute]));
      const { troubles, unjudged } = await risksOf([...jobs, job('idle', [])], { sources, factsOf: () => undefined });
      return [troubles[0]?.firstJob.name, troubles[0]?.firstMs, troubles[0]?.jobCount, unjudged];
    };
    expect(await first(20, 10, 30)).toEqual(['at 10', nowMs + 10 * minuteMs, 3, 0]);
    expect(await first(10, 20)).toEqual(['at 10', nowMs + 10 * minuteMs, 2, 0]);
  });

  const contact = (agoMs: number): [string, Timeline] => [
    sourceKeys.contact,
    [{ value: 'answered', fromMs: 0, throughMs: nowMs - agoMs }],
  ];
  const member = (agoMs: number, value = 'answered'): [string, Timeline] => [
    sourceKeys.member('m1'),
    [{ value, fromMs: 0, throughMs: nowMs - agoMs }],
  ];
  const failed = { consecutiveFailures: 1, failedMs: [50], lastFailedId: 7, lastFailedMs: 50, lastStartMs: 40 };
  const refused = { ...failed, lastFailure: { id: 7, failureClass: 'access' } };
  const sameLines = { id: 7, failureClass: 'command', lines: { beforeMs: 30 } };
  const two = { ...failed, consecutiveFailures: 2, failedMs: [50, 30], lastFailure: sameLines };
  const child = { project: 'pay', group: '', name: 'child' };
  const ofChild = { ...noSurroundings, childrenOf: () => [child] };
  const failing = { consecutiveFailures: 3, failedMs: [60, 50, 40], lastFailedId: 7, lastFailedMs: 60 };
  const cause = { kind: 'node', subject: 'db', sinceMs: 50, failed: 2, covered: 2, succeeded: 1, spared: 1 };
  const caused = { ...noSurroundings, causeOf: () => cause };
  const unchanged = {
    ...noSurroundings,
    accessUnchangedMs: (_job: object, ms: number) => (ms === 40 ? 90 : undefined),
  };
  const gone = (...nodes: string[]) => ({
    ...noSurroundings,
    nodeGoneMs: (_project: string, node: string) => (nodes.includes(node) ? Number(node) : undefined),
  });
  it.each<[string, string, Partial<WatchedJob>, object]>([
    ['', 'an owner is silent for 3 min', { ownerUuid: 'm1' }, { sources: new Map([contact(0), member(180_000)]) }],
    [
      'owner_gone',
      'it is silent for longer',
      { ownerUuid: 'm1' },
      { sources: new Map([contact(180_000), member(180_001)]) },
    ],
    ['', 'all are silent', { ownerUuid: 'm1' }, { sources: new Map([contact(180_001), member(180_001)]) }],
    ['', 'the owner is not polled', { ownerUuid: 'm1' }, { sources: new Map([contact(0), member(180_001, 'seen')]) }],

    ['node_gone 30', 'all nodes are gone', { nodes: { 20: 5, 30: 5 } }, { surroundings: gone('20', '30') }],
    ['', 'one node is left', { nodes: { 20: 5, 30: 5 } }, { surroundings: gone('20') }],
    ['', 'earlier runs had other nodes', { nodes: { 20: 5, 30: 4 } }, { surroundings: gone('20', '30') }],
    ['', 'no node is known', { nodes: {} }, { surroundings: gone('20') }],

    ['access 50', 'the last run was refused', {}, { facts: refused, surroundings: unchanged }],
    [
      'access',
      'the last two runs were refused',
      {},
      { facts: { ...refused, consecutiveFailures: 2 }, surroundings: unchanged },
    ],
    ['', 'the last run succeeded', {}, { facts: { ...refused, consecutiveFailures: 0 }, surroundings: unchanged }],
    ['', 'another run was refused', {}, { facts: { ...refused, lastFailedId: 8 }, surroundings: unchanged }],
    ['', 'a key has changed', {}, { facts: refused, surroundings: noSurroundings }],
    ['', 'the start is after the failure', {}, { facts: { ...refused, lastStartMs: 60 }, surroundings: unchanged }],

    ['job_failing 40', 'three runs failed', {}, { facts: failing }],
    ['', 'two runs failed', {}, { facts: { ...failing, consecutiveFailures: 2 } }],
    ['job_failing', 'four runs failed, with three known times', {}, { facts: { ...failing, consecutiveFailures: 4 } }],
    ['job_failing 30', 'two runs failed with the same lines', {}, { facts: two }],
    ['', 'two runs failed, and an earlier one with the same lines', {}, { facts: { ...two, failedMs: [50, 31] } }],
    ['', 'the lines are of another run', {}, { facts: { ...two, lastFailedId: 8 } }],
    ['', 'one run failed', {}, { facts: { ...two, consecutiveFailures: 1 } }],

    ['child_failing 40', 'a child fails', {}, { factsOf: () => failing, surroundings: ofChild }],
    [
      'child_failing 40',
      'a parent succeeded as late',
      {},
      { facts: { consecutiveFailures: 0, lastSuccessMs: 60 }, factsOf: () => failing, surroundings: ofChild },
    ],
    [
      '',
      'a parent succeeded later',
      {},
      { facts: { consecutiveFailures: 0, lastSuccessMs: 61 }, factsOf: () => failing, surroundings: ofChild },
    ],
    ['', 'a child is unknown', {}, { surroundings: ofChild }],

    [
      'common_cause 50',
      'it shares a cause',
      {},
      { facts: { consecutiveFailures: 0, lastSuccessMs: 50 }, surroundings: caused },
    ],
    ['', 'it succeeded later', {}, { facts: { consecutiveFailures: 0, lastSuccessMs: 51 }, surroundings: caused }],
  ])('finds lasting trouble: %s if %s', (...[reasons, , fields, trouble]) => {
    const given = { path: 'pay/a', facts: undefined, factsOf: () => undefined, nodes: new Map(), nowMs };
    const around = { sources: new Map(), surroundings: undefined };
    const found = findLasting(job('a', [10], fields), { ...given, ...around, ...trouble });
    const texts = found.map(({ reason, sinceMs }) =>
      sinceMs === undefined || sinceMs > 99 ? reason : `${reason} ${sinceMs}`,
    );
    expect(texts.join(', ')).toBe(reasons);
  });
});
