import { describe, expect, it } from 'vitest';
import { type BoundRules, boundRows } from '../../src/metrics/bound.ts';
import {
  counter,
  earliestGauge,
  gauge,
  histogram,
  info,
  newestGauge,
  type Row,
  stateSet,
  summary,
} from '../../src/metrics/family.ts';
import { renderSamples } from '../../src/metrics/render.ts';

const queued = gauge('demo_queued', 'Queued.', 'project', 'status');
const latest = newestGauge('demo_latest', 'Latest.', 'project');
const expires = earliestGauge('demo_expires', 'Expires.', 'name');
const stored = counter('demo_stored_total', 'Stored.', 'project');
const facts = info('demo_info', 'Facts.', 'project');
const timing = summary('demo_timing', 'Timing.', 'name');

const noRules: BoundRules = { families: new Map(), maxSeries: 100 };

function rulesOf(family: string, rule: Partial<{ off: boolean; dropLabels: readonly string[] }>): BoundRules {
  return { families: new Map([[family, { off: false, dropLabels: [], ...rule }]]), maxSeries: 100 };
}

function bound(rows: readonly Row[], rules: BoundRules = noRules) {
  const { rows: kept, dropped } = boundRows(rows, rules);
  return { lines: kept.map((row) => renderSamples([row]).trimEnd()), dropped };
}

describe('metrics/bound', () => {
  it('returns rows unchanged if no two are equal', () => {
    const rows = [...queued.rows(1, { project: 'a', status: 'x' }), ...queued.rows(2, { project: 'a', status: 'y' })];

    expect(boundRows(rows, noRules)).toEqual({ rows, dropped: {} });
    expect(boundRows(rows, noRules).rows).toBe(rows);
  });

  it('shows fewer series if their labels are very long', () => {
    const rows = Array.from({ length: 100 }, (_, index) =>
      queued.rows(1, { project: `${'p'.repeat(1000)}${index}`, status: 's'.repeat(1000) }),
    ).flat();
    const { rows: kept, dropped } = boundRows(rows, noRules);
    expect(kept).toHaveLength(6);
    expect(dropped).toEqual({ cap: 94 });
  });

  it('computes the same sum of durations for any order of jobs', () => {
    const durations = histogram('demo_seconds', 'Durations.', 'job');
    const jobs = [0.1, 0.2, 0.3, 1.1].map((sum, job) =>
      durations.rows({ bounds: [], counts: [1], sum, count: 1 }, { job: String(job) }),
    );
    const rules = rulesOf('demo_seconds', { dropLabels: ['job'] });
    for (const order of [jobs, jobs.toReversed()])
      expect(bound(order.flat(), rules).lines).toContain('demo_seconds_sum 1.7');
    expect(bound((jobs[0] ?? []).concat(jobs[1] ?? []), rules).lines).toContain('demo_seconds_sum 0.3');
  });

  it('merges rows with equal labels by the rule of their family', () => {
    const rows = [
      ...stored.rows(1, { project: 'a' }),
      ...stored.rows(8, { project: 'b' }),
      ...latest.rows(7, { project: 'a' }),
      ...stored.rows(2, { project: 'a' }),
      ...latest.rows(3, { project: 'a' }),
      ...expires.rows(20, { name: 't' }),
      ...expires.rows(10, { name: 't' }),
      ...expires.rows(30, { name: 't' }),
      ...stored.rows(4, { project: 'a' }),
    ];

    expect(bound(rows)).toEqual({
      lines: [
        'demo_stored_total{project="a"} 7',
        'demo_stored_total{project="b"} 8',
        'demo_latest{project="a"} 3',
        'demo_expires{name="t"} 10',
      ],
      dropped: { merged: 5 },
    });
  });

  it('distinguishes labels whose joined texts are equal', () => {
    const pairs = [
      ['a', 'b,c'],
      ['a,b', 'c'],
      ['a"', 'b'],
      ['a', '"b'],
      ['a\u0000b', 'c'],
      ['a', 'b\u0000c'],
      ['', 'ab'],
      ['ab', ''],
      ['__proto__', 'constructor'],
      ['constructor', '__proto__'],
      ['toString', ''],
      ['0', '1'],
    ] as const;
    const rows = pairs.flatMap(([project, status]) => queued.rows(1, { project, status }));

    expect(boundRows(rows, noRules)).toEqual({ rows, dropped: {} });
    expect(boundRows([...rows, ...rows], noRules).dropped).toEqual({ merged: pairs.length });
  });

  it('merges labels that differ only in halves of surrogate pairs', () => {
    const rows = ['\ud800', '\udfff', 'x'].flatMap((project) => stored.rows(1, { project }));

    expect(bound(rows)).toEqual({
      lines: ['demo_stored_total{project="\ufffd"} 2', 'demo_stored_total{project="x"} 1'],
      dropped: { merged: 1 },
    });
  });

  it('distinguishes samples of a summary, and series by configured labels', () => {
    const one = timing.rows({ quantiles: [[0.5, 1]], sum: 5, count: 3 }, { name: 'a' });
    const other = timing.rows({ quantiles: [[0.5, 2]], sum: 6, count: 4 }, { name: 'a' });
    const teams = [
      ...facts.rows({ project: 'a' }, [['team', 'x']]),
      ...facts.rows({ project: 'a' }, [['team', 'y']]),
      ...facts.rows({ project: 'a' }),
    ];

    expect(boundRows([...one, ...teams], noRules)).toEqual({ rows: [...one, ...teams], dropped: {} });
    expect(bound([...one, ...other])).toEqual({
      lines: ['demo_timing{name="a",quantile="0.5"} 2', 'demo_timing_sum{name="a"} 6', 'demo_timing_count{name="a"} 4'],
      dropped: { merged: 3 },
    });
  });

  it('leaves out families that are off', () => {
    const rows = [...stored.rows(1, { project: 'a' }), ...latest.rows(2, { project: 'a' })];

    expect(bound(rows, rulesOf('demo_stored_total', { off: true }))).toEqual({
      lines: ['demo_latest{project="a"} 2'],
      dropped: {},
    });
  });

  it('merges rows that become equal without a dropped label, and does not count them as dropped', () => {
    const rows = [
      ...queued.rows(1, { project: 'a', status: 'x' }),
      ...latest.rows(9, { project: 'a' }),
      ...queued.rows(2, { project: 'b', status: 'x' }),
      ...queued.rows(4, { project: 'b', status: 'y' }),
      ...queued.rows(8, { project: 'b', status: 'y' }),
    ];

    expect(bound(rows, rulesOf('demo_queued', { dropLabels: ['project', 'nothing'] }))).toEqual({
      lines: ['demo_queued{status="x"} 3', 'demo_latest{project="a"} 9', 'demo_queued{status="y"} 12'],
      dropped: { merged: 1 },
    });
    expect(bound(rows, rulesOf('demo_queued', { dropLabels: ['project', 'status'] })).lines).toEqual([
      'demo_queued 15',
      'demo_latest{project="a"} 9',
    ]);
  });

  it('drops configured labels too, and merges rows that become equal', () => {
    const teams = ['x', 'y'].flatMap((team) => facts.rows({ project: 'a' }, [['team', team]]));
    const rows = [...teams, ...facts.rows({ project: 'a' })];

    expect(bound(rows, rulesOf('demo_info', { dropLabels: ['team'] }))).toEqual({
      lines: ['demo_info{project="a"} 1'],
      dropped: {},
    });
  });

  it('shows the first series up to the cap', () => {
    const rows = ['a', 'b', 'a', 'c', 'd'].flatMap((project) => stored.rows(1, { project }));

    expect(bound(rows, { ...noRules, maxSeries: 2 })).toEqual({
      lines: ['demo_stored_total{project="a"} 2', 'demo_stored_total{project="b"} 1'],
      dropped: { merged: 1, cap: 2 },
    });
    expect(bound(rows, { ...noRules, maxSeries: 0 }).dropped).toEqual({ merged: 1, cap: 4 });
  });

  it('publishes all parts of a summary or none', () => {
    const whole = { quantiles: [[0.5, 1]], sum: 5, count: 3 } as const;
    const rows = [
      ...timing.rows(whole, { name: 'a' }),
      ...timing.rows(whole, { name: 'b' }),
      ...stored.rows(1, { project: 'a' }),
    ];

    for (const maxSeries of [3, 4, 5]) {
      expect(bound(rows, { ...noRules, maxSeries })).toEqual({
        lines: [
          'demo_timing{name="a",quantile="0.5"} 1',
          'demo_timing_sum{name="a"} 5',
          'demo_timing_count{name="a"} 3',
        ],
        dropped: { cap: 4 },
      });
    }
  });

  it('publishes all states of a state set or none', () => {
    const state = stateSet('demo_state', 'State.', { label: 'state', states: ['on', 'off'] }, 'project', 'zone');
    const rows = ['a', 'b'].flatMap((project) => state.rows('off', { project, zone: '1' }));
    const rules = { ...rulesOf(state.name, { dropLabels: ['zone'] }), maxSeries: 3 };

    const { lines, dropped } = bound(rows, rules);

    expect(lines).toEqual(['demo_state{project="a",state="on"} 0', 'demo_state{project="a",state="off"} 1']);
    expect(dropped).toEqual({ cap: 2 });
  });

  it('publishes all series of a job or none', () => {
    const runs = counter('demo_runs_total', 'Runs.', 'project', 'job_group', 'job_name', 'status');
    const last = newestGauge('demo_last', 'Last.', 'project', 'job_group', 'job_name');
    const jobs = ['x', 'y', 'z'].map((name) => ({ project: 'a', job_group: '', job_name: name }));
    const rows = [
      ...jobs.flatMap((job) => ['good', 'bad'].flatMap((status) => runs.rows(1, { ...job, status }))),
      ...jobs.flatMap((job) => last.rows(1, job)),
    ];
    const ofJobs = (maxSeries: number) =>
      boundRows(rows, { ...noRules, maxSeries }).rows.map(({ family, labels }) => `${family.name} ${labels[2]}`);

    expect(ofJobs(8)).toEqual([
      'demo_runs_total x',
      'demo_runs_total x',
      'demo_runs_total y',
      'demo_runs_total y',
      'demo_last x',
      'demo_last y',
    ]);
    expect(ofJobs(2)).toEqual([]);
  });

  it('publishes the same series for 50 rounds while other jobs come and go', () => {
    const rules = { ...noRules, maxSeries: 20 };
    const steady = Array.from({ length: 30 }, (_, index) => stored.rows(1, { project: `p${index}` })).flat();
    const running = (count: number) =>
      Array.from({ length: count }, (_, index) => queued.rows(1, { project: `r${index}`, status: 'x' })).flat();
    const isSteady = ({ family }: Row): boolean => family.name === 'demo_stored_total';
    let { shown, rows } = boundRows([...running(5), ...steady], rules);
    const first = rows.filter(isSteady);
    expect(first).toHaveLength(15);
    for (let round = 0; round < 50; round += 1) {
      ({ shown, rows } = boundRows([...running((7 * round) % 11), ...steady], rules, shown));
      expect(rows.length).toBeLessThanOrEqual(20);
      expect(rows.filter(isSteady).slice(0, 15)).toEqual(first);
    }
  });

  it('publishes omitted series again only if there is enough room', () => {
    const rules = { ...noRules, maxSeries: 20 };
    const steady = (count: number) =>
      Array.from({ length: count }, (_, index) => stored.rows(1, { project: `p${index}` })).flat();
    const { shown } = boundRows(steady(21), rules);
    expect(boundRows(steady(20), rules, shown).dropped).toEqual({});
    const [left] = stored.rows(1, { project: 'p20' });
    const others = [...steady(19), ...(left === undefined ? [] : [left])];
    expect(boundRows(others, rules, shown).dropped).toEqual({ cap: 1 });
    expect(boundRows(others.slice(2), rules, shown).dropped).toEqual({});
  });
});
