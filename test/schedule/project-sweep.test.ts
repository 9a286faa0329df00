import { describe, expect, it } from 'vitest';
import { fault, numbered, setScene } from './sweep-scene.ts';

const denied = fault('forbidden', { status: 403, errorCode: 'api.error.item.unauthorized' });
const broken = fault('server', { status: 500 });

describe('schedule/project-sweep', () => {
  it('reads every project and shows each answer', async () => {
    const { pass, shown, asked } = setScene(['pay', 'ops', 'web']);

    expect(await pass()).toBe('success');
    expect(asked()).toBe('ops pay web');
    expect(shown()).toBe('ops pay web');
  });

  it('uses half of the budget in the first pass, and spreads later passes over the interval', async () => {
    const { pass, times } = setScene(numbered(6), { everyMs: 60_000, requestsPerSecond: 10 });

    await pass();
    expect(times()).toBe('0 0.2 0.4 0.6 0.8 1');
    await pass();
    expect(times()).toBe('0 8 16 24 32 40');
  });

  it('keeps its interval when responses are slow', async () => {
    const { pass, times, whenAsked, later } = setScene(numbered(6), { tookMs: 150 });
    whenAsked((project) => later(project === 'p0002' ? 5000 : 0));

    await pass();
    expect(times()).toBe('0 0.2 5.35 5.55 5.75 5.95');
  });

  it('spreads the requests over the interval if each project needs several', async () => {
    const { demo, ...scene } = setScene(['a', 'b'], {
      fetch: async (api, { name }) => {
        await api.get(demo, { path: { project: name } });
        await api.get(demo, { path: { project: name } });
        return api.get(demo, { path: { project: name } });
      },
    });

    await scene.pass();
    expect(scene.times()).toBe('0 0.2 0.4 0.6 0.8 1');
    await scene.pass();
    expect(scene.times()).toBe('0 8 16 24 32 40');
  });

  it('reads a thousand projects within half of the budget', async () => {
    const { pass, times, maxTogether, whenAsked, shownCount } = setScene(numbered(1000), { tookMs: 30 });
    const seen: number[] = [];

    for (const round of [1, 2, 3]) {
      whenAsked(() => {
        if (round > 1) seen.push(shownCount());
      });
      expect(await pass()).toBe('success');
      const atSeconds = times().split(' ').map(Number);
      expect(atSeconds.length).toBe(1000);
      // Only the budget limits the sweep, which takes longer than its interval.
      expect(atSeconds.at(-1)).toBeCloseTo(199.8);
      expect(Math.min(...atSeconds.slice(1).map((second, index) => second - (atSeconds[index] ?? 0)))).toBeCloseTo(0.2);
      expect(maxTogether()).toBe(1);
    }
    expect(shownCount()).toBe(1000);
    expect(new Set(seen)).toEqual(new Set([1000]));
  });

  it('spreads a thousand projects over ten minutes', async () => {
    const { pass, times } = setScene(numbered(1000), { everyMs: 600_000 });
    await pass();
    await pass();

    const perMinute = Map.groupBy(times().split(' '), (second) => Math.floor(Number(second) / 60));
    expect([...perMinute.values()].map((requests) => requests.length)).toEqual([
      125, 125, 125, 125, 125, 125, 125, 125,
    ]);
  });

  it('publishes rows during the first pass', async () => {
    const { pass, whenAsked, shownCount } = setScene(numbered(100));
    const seen = new Map<string, number>();
    whenAsked((project) => {
      seen.set(project, shownCount());
    });
    await pass();

    expect([seen.get('p0002'), seen.get('p0030'), seen.get('p0080')]).toEqual([1, 27, 79]);
  });

  it('publishes rows every five seconds in the first pass', async () => {
    const { pass, publishedAt } = setScene(numbered(1000), { everyMs: 600_000 });
    await pass();
    expect(publishedAt().slice(0, 4)).toEqual([0, 5.2, 10.4, 15.6]);
    await pass();
    expect(publishedAt().slice(0, 3)).toEqual([0, 30.24, 60.48]);
  });

  it('keeps the last rows of a failing project until they expire', async () => {
    const { pass, shown, faults } = setScene(['a', 'b', 'c']);
    await pass();
    faults.set('b', broken);

    expect(await pass()).toBe('failed: 1 of 3 projects failed; the first: GET demo: server');
    expect(shown()).toBe('a b c');
    await pass();
    await pass();
    expect(shown()).toBe('a c');
    faults.delete('b');
    expect(await pass()).toBe('success');
    expect(shown()).toBe('a c b');
  });

  it('counts an error of the exporter as an error of the project', async () => {
    const { pass, shown, faults } = setScene(['a', 'b', 'c']);
    faults.set('a', new TypeError('odd answer'));

    expect(await pass()).toBe('failed: 1 of 3 projects failed; the first: TypeError: odd answer');
    expect(shown()).toBe('b c');
  });

  it('reports a project whose name cannot be sent, without an error', async () => {
    const { pass, shown, faults } = setScene(['..', 'b', 'c']);
    faults.set('..', fault('rejected', { unsent: true }));

    expect(await pass()).toBe('1 of 3 projects cannot be read; the first: GET demo: rejected');
    expect(shown()).toBe('b c');
  });

  it('removes the series of a denied project until it can be read again', async () => {
    const { pass, shown, asked, faults } = setScene(['a', 'b']);
    await pass();
    faults.set('a', denied);

    expect(await pass()).toBe('1 of 2 projects are denied');
    expect(shown()).toBe('b');
    const askedThen: string[] = [];
    faults.delete('a');
    for (let minute = 1; minute <= 5; minute += 1) {
      await pass();
      askedThen.push(asked());
    }
    expect(askedThen).toEqual(['b', 'b', 'b', 'b', 'b a']);
    expect(shown()).toBe('b a');
  });

  it('stays off as long as every project is denied', async () => {
    const { pass, asked, faults } = setScene(['a', 'b']);
    for (const name of ['a', 'b']) faults.set(name, denied);

    expect(await pass()).toBe('off: GET demo: forbidden');
    expect(await pass()).toBe('off: GET demo: forbidden');
    expect(asked()).toBe('');
  });

  it('removes the series of a project that is no longer listed', async () => {
    const { pass, shown, setNames, whenAsked, asked } = setScene(['a', 'b', 'c']);
    await pass();
    setNames(['a', 'c']);
    const seen: string[] = [];
    whenAsked(() => {
      seen.push(shown());
    });

    expect(await pass()).toBe('success');
    expect(seen).toEqual(['a c', 'a c']);
    expect(asked()).toBe('a c');
  });

  it('does not read or show a project that is deleted during the pass', async () => {
    const { pass, shown, asked, setNames, readList, whenAsked, later } = setScene(['a', 'b', 'c', 'd']);
    await pass();
    const seen: string[] = [];
    whenAsked(async (project) => {
      if (project === 'b') {
        setNames(['a', 'd']);
        later(15_000);
        await readList();
      }
      seen.push(shown());
    });

    expect(await pass()).toBe('success');
    expect(asked()).toBe('a b d');
    expect(seen).toEqual(['a b c d', 'a d', 'a d']);
    expect(shown()).toBe('a d');
  });

  it.each(['api.error.project.missing', 'api.error.project.disabled'])(
    'does not count %s as an error',
    async (errorCode) => {
      const { pass, shown, faults } = setScene(['a', 'b', 'c']);
      await pass();
      faults.set('b', fault('not_found', { status: 404, errorCode }));

      expect(await pass()).toBe('success');
      expect(shown()).toBe('a c');
    },
  );

  it('removes the series of a project that is listed but excluded', async () => {
    const unwanted = new Set<string>();
    const { pass, shown, asked } = setScene(['a', 'b', 'c'], { covers: (project) => !unwanted.has(project) });
    await pass();
    unwanted.add('b');

    expect(await pass()).toBe('success');
    expect(asked()).toBe('a c');
    expect(shown()).toBe('a c');
  });

  it('forgets the denial of a deleted project', async () => {
    const { pass, asked, faults, setNames } = setScene(['a', 'b']);
    faults.set('a', denied);
    await pass();
    setNames(['b']);
    await pass();
    setNames(['a', 'b']);
    await pass();

    expect(asked()).toBe('b a');
  });

  it('reads an unanswered project again at the end of the pass', async () => {
    const { pass, asked, faults, whenAsked } = setScene(['a', 'b', 'c']);
    faults.set('b', fault('timeout', { isOfService: false }));
    whenAsked((project) => {
      if (project === 'c') faults.clear();
    });
    expect(await pass()).toBe('success');
    expect(asked()).toBe('a b c b');
  });

  it('ends the pass after five unanswered requests in a row', async () => {
    const { pass, asked, shown, faults } = setScene(numbered(12));
    await pass();
    for (const name of numbered(12)) faults.set(name, fault('timeout', { isOfService: false }));

    expect(await pass()).toBe('ended: ApiError: GET demo: timeout');
    expect(asked()).toBe('p0001 p0002 p0003 p0004 p0005');
    await pass();
    expect(asked()).toBe('p0006 p0007 p0008 p0009 p0010');
    expect(shown().split(' ').length).toBe(12);
    faults.clear();
    await pass();
    expect(asked()).toBe('p0011 p0012 p0001 p0002 p0003 p0004 p0005 p0006 p0007 p0008 p0009 p0010');
  });

  it.each([
    ['answers', undefined],
    ['is gone', fault('not_found', { errorCode: 'api.error.project.missing' })],
    ['is denied', denied],
  ])('ends the pass if the server stops answering after a project that %s', async (_name, first) => {
    const { pass, asked, faults } = setScene(numbered(12));
    await pass();
    for (const name of numbered(12)) faults.set(name, fault('timeout', { isOfService: false }));
    faults.delete('p0001');
    if (first !== undefined) faults.set('p0001', first);

    expect(await pass()).toBe('ended: ApiError: GET demo: timeout');
    expect(asked()).toBe('p0001 p0002 p0003 p0004 p0005 p0006');
  });

  it.each([
    ['is gone', fault('not_found', { errorCode: 'api.error.project.missing' })],
    ['is denied', denied],
  ])('continues if the server answers between errors: a project %s', async (_name, between) => {
    const { pass, asked, faults } = setScene(numbered(9));
    for (const name of numbered(9)) faults.set(name, fault('timeout', { isOfService: false }));
    faults.set('p0005', between);

    expect(await pass()).toBe('failed: 8 of 9 projects failed; the first: GET demo: timeout');
    expect(asked()).toBe('p0001 p0002 p0003 p0004 p0005 p0006 p0007 p0008 p0009');
  });

  it.each([
    [503, 'ended: ApiError: GET demo: server', 6],
    [502, 'ended: ApiError: GET demo: server', 6],
    [500, 'failed: 11 of 12 projects failed; the first: GET demo: server', 12],
    [501, 'failed: 11 of 12 projects failed; the first: GET demo: server', 12],
  ])('ends the pass after five answers with %d only if a proxy sends this status', async (status, outcome, count) => {
    const { pass, asked, faults } = setScene(numbered(12));
    for (const name of numbered(12).slice(1)) faults.set(name, fault('server', { status }));

    expect(await pass()).toBe(outcome);
    expect(asked().split(' ').length).toBe(count);
  });

  it('continues if one answer in five succeeds', async () => {
    const { pass, shown, faults } = setScene(numbered(20));
    const silent = numbered(20).filter((_name, index) => index % 5 !== 4);
    for (const name of silent) faults.set(name, fault('timeout', { isOfService: false }));

    expect(await pass()).toBe('failed: 16 of 20 projects failed; the first: GET demo: timeout');
    expect(shown()).toBe('p0005 p0010 p0015 p0020');
  });

  it('shows the rows of a pass that ended early', async () => {
    const { pass, shown, faults } = setScene(['a', 'b', 'c']);
    faults.set('c', fault('unauthorized'));

    expect(await pass()).toBe('ended: ApiError: GET demo: unauthorized');
    expect(shown()).toBe('a b');
  });

  it('reads everything again immediately after an outage', async () => {
    const { pass, times, faults } = setScene(numbered(6));
    await pass();
    for (const name of numbered(6)) faults.set(name, fault('network', { isOfService: false }));
    await pass();
    faults.clear();
    expect(await pass()).toBe('success');
    expect(times()).toBe('0 0.2 0.4 0.6 0.8 1');
    await pass();
    expect(times()).toBe('0 8 16 24 32 40');
  });

  it('continues after a project that is gone', async () => {
    const { pass, asked, faults, setNames } = setScene(numbered(12));
    for (const name of numbered(12)) faults.set(name, fault('network', { isOfService: false }));
    await pass();
    setNames(numbered(12).filter((name) => name !== 'p0006'));
    await pass();

    expect(asked()).toBe('p0007 p0008 p0009 p0010 p0011');
  });

  it('reads waiting projects before it repeats failing ones', async () => {
    const { pass, asked, shown, faults } = setScene(numbered(9));
    for (const name of numbered(7)) faults.set(name, broken);

    expect(await pass()).toBe('ended: ApiError: GET demo: server');
    expect(asked()).toBe('p0001 p0002 p0003 p0004 p0005');
    for (let round = 0; round < 6; round += 1) {
      expect(await pass()).toBe('failed: 7 of 9 projects failed; the first: GET demo: server');
      expect(shown()).toBe('p0008 p0009');
    }
    expect(asked()).toBe('p0008 p0009 p0001 p0002 p0003 p0004 p0005 p0006 p0007');
  });

  it.each([
    ['refused credentials', fault('unauthorized', { status: 403, errorCode: 'unauthorized' })],
    ['a version that lacks the endpoint', fault('unsupported_version')],
    ['a circuit that is open', fault('network', { unsent: true })],
  ])('ends the pass after %s', async (_name, error) => {
    const { pass, asked, shown, faults } = setScene(['a', 'b', 'c']);
    await pass();
    faults.set('b', error);

    expect(await pass()).toBe(`ended: ApiError: ${error.message}`);
    expect(asked()).toBe('a b');
    expect(shown()).toBe('a b c');
    faults.clear();
    await pass();
    expect(asked()).toBe('b c a');
  });

  it('lets rows expire while the list of projects cannot be read', async () => {
    const { pass, shown, failList } = setScene(['a', 'b']);
    await pass();
    failList(fault('network'));
    await pass();
    await pass();
    expect(shown()).toBe('a b');
    expect(await pass()).toBe('ended: ApiError: GET demo: network');

    expect(shown()).toBe('');
  });

  it('publishes nothing after a stop', async () => {
    const { pass, asked, shown, whenAsked } = setScene(numbered(9));
    const ending = new AbortController();
    whenAsked((project) => {
      if (project === 'p0003') ending.abort(new Error('stop'));
    });

    expect(await pass(ending.signal)).toBe('ended: Error: stop');
    expect(asked()).toBe('p0001 p0002 p0003');
    expect(shown()).toBe('p0001');
  });

  it('ends immediately if it is stopped between two requests', async () => {
    const ending = new AbortController();
    const { pass, asked, withdrawn } = setScene(numbered(9), {
      map: (value, { value: family }, { project }) => {
        if (project === 'p0002') ending.abort(new Error('stop'));
        return family.rows(value, { project });
      },
    });

    expect(await pass(ending.signal)).toBe('ended: Error: stop');
    expect(asked()).toBe('p0001 p0002');
    expect(withdrawn()).toBe(0);
  });

  it('shows no rows between a withdrawal and the next pass', async () => {
    const { pass, shown, times, withdraw } = setScene(['a', 'b', 'c']);
    await pass();
    withdraw();
    expect(shown()).toBe('');

    await pass();
    expect(shown()).toBe('a b c');
    expect(times()).toBe('0 0.2 0.4');
  });

  it('never shows rows that were read before a withdrawal', async () => {
    const { pass, shown, withdraw, faults } = setScene(['a', 'b', 'c']);
    await pass();
    withdraw();
    faults.set('b', broken);
    await pass();
    expect(shown()).toBe('a c');
  });

  it('does not show rows that were being published during a withdrawal', async () => {
    const { pass, shown, withdraw, setNames, readList, whenPublished } = setScene(['a', 'b']);
    await pass();
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    whenPublished(() => {
      begun.resolve();
      return held.promise;
    });
    setNames(['a']);
    await readList();
    await begun.promise;
    withdraw();
    whenPublished(() => undefined);
    held.resolve();
    await new Promise(setImmediate);
    expect(shown()).toBe('');
  });

  it('also reads values of the whole server', async () => {
    const covers = (project: string) => project === 'b';
    const { pass, shown, shownCount, setNames } = setScene(['a', 'b'], { andServer: true, covers });
    await pass();
    expect(shown()).toBe(' b');
    setNames([]);
    await pass();
    expect([shown(), shownCount()]).toEqual(['', 1]);
  });

  it('sends one request if one response has all projects', async () => {
    const { pass, asked, shown, setNames } = setScene(['a', 'b'], {
      fetchAll: async () =>
        new Map([
          ['a', 1],
          ['b', 2],
          ['not watched', 3],
        ]),
    });

    expect(await pass()).toBe('success');
    expect(asked()).toBe('');
    expect(shown()).toBe('a b');
    setNames(['b']);
    await pass();
    expect(shown()).toBe('b');
  });
});
