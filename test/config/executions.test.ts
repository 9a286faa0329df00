import { describe, expect, it } from 'vitest';
import { toEffectiveYaml } from '../../src/config/show/effective-config.ts';
import { complain, load } from './fixtures.ts';

describe('config/executions', () => {
  it('has the documented defaults', async () => {
    const { config } = await load({});
    expect(config.executions).toEqual({
      overlapMs: 120_000,
      maxDelayMs: 900_000,
      overdueFactor: 3,
      overdueFloorMs: 300_000,
      backfillMs: 0,
      catchUpLimitMs: 604_800_000,
    });
    expect(config.metrics.holdNewSeriesMs).toBe(60_000);
    expect(config.jobs.successAgeMsOf('pay/nightly/a')).toBeUndefined();
    expect(config.jobs.overdueFactorOf('pay/nightly/a')).toBeUndefined();
  });

  it('reads each setting from the file, a variable or a flag', async () => {
    const { config } = await load({
      yaml: 'executions: { overlap: 0s, max_delay: 1h, overdue_floor: 1d }\nmetrics: { hold_new_series: 0s }',
      env: { AUTOMATION_EXPORTER_EXECUTIONS_BACKFILL: '6h', AUTOMATION_EXPORTER_METRICS_HOLD_NEW_SERIES: '30s' },
      argv: [
        '--executions.catch-up-limit=2d',
        '--executions.overdue-factor=1.5',
        '--executions.count-from=2026-11-22T18:00:00+01:00',
      ],
    });
    expect(config.executions).toEqual({
      overlapMs: 0,
      maxDelayMs: 3_600_000,
      overdueFactor: 1.5,
      overdueFloorMs: 86_400_000,
      backfillMs: 21_600_000,
      countFrom: Date.UTC(2026, 10, 22, 17),
      catchUpLimitMs: 172_800_000,
    });
    expect(config.metrics.holdNewSeriesMs).toBe(30_000);
  });

  it('takes each field from the first matching override', async () => {
    const yaml = `
jobs:
  overrides:
    - { match: "pay/nightly/.*", success_age: 26h }
    - { match: "pay/.*", overdue_factor: 2 }
    - { match: ".*/.*", success_age: 7d, overdue_factor: 10, critical: false }
    - { match: ".*", critical: true }
`;
    const { config } = await load({ yaml });
    const told = ['pay/nightly/a', 'pay/b', 'shop/c', 'lonely'].map((path) => [
      path,
      config.jobs.successAgeMsOf(path),
      config.jobs.overdueFactorOf(path),
      config.jobs.isCritical(path),
    ]);
    expect(told).toEqual([
      ['pay/nightly/a', 93_600_000, 2, false],
      ['pay/b', 604_800_000, 2, false],
      ['shop/c', 604_800_000, 10, false],
      ['lonely', undefined, undefined, true],
    ]);
  });

  it('accepts a note about a job only on one line', async () => {
    const overrides = '[{ match: "pay/.*", owner: payments }, { match: ".*", owner: all, note: "restart by hand" }]';
    const { config } = await load({ yaml: `jobs: { overrides: ${overrides} }` });
    expect(config.jobs.aboutOf('pay/settle')).toEqual({
      owner: 'payments',
      note: 'restart by hand',
      runbook: undefined,
    });
    await expect(complain({ yaml: 'jobs: { overrides: [{ match: a, owner: "b\\nc" }] }' })).resolves.toEqual([
      expect.stringContaining('is not one line of at most 300 characters'),
    ]);
  });

  it('writes settings that load again', async () => {
    const yaml = 'jobs: { overrides: [{ match: "pay/.*", success_age: 26h }, { match: ".*", overdue_factor: 2.5 }] }';
    const text = toEffectiveYaml((await load({ yaml })).config);
    expect(text).toContain(`
  overrides:
    - match: pay/.*
      success_age: 1d2h
    - match: .*
      overdue_factor: 2.5
executions:
  overlap: 2m
  max_delay: 15m
  overdue_factor: 3
  overdue_floor: 5m
  backfill: 0s
  catch_up_limit: 1w
`);
    expect(text).toContain('\nmetrics:\n  hold_new_series: 1m\n  cicd: false\n');
    expect(toEffectiveYaml((await load({ yaml: text })).config)).toBe(text);
  });

  it.each([
    { said: 'executions: { overlap: 31m }', complaint: '1:24 executions.overlap: is too long (at most 30m)' },
    { said: 'executions: { max_delay: 0s }', complaint: '1:26 executions.max_delay: is too short (at least 1s)' },
    {
      said: 'executions: { overdue_factor: 0.5 }',
      complaint: '1:31 executions.overdue_factor: takes a number from 1 to 1000, found the number 0.5',
    },
    {
      said: 'executions: { backfil: 1h }',
      complaint: '1:15 executions.backfil: is not a known key (did you mean backfill?)',
    },
    {
      said: 'executions: { backfill: 8d }',
      complaint:
        '1:25 executions.backfill: executions.backfill (1w1d) exceeds executions.catch_up_limit (1w) (executions before the limit are skipped: reduce backfill or raise catch_up_limit)',
    },
    {
      said: 'metrics: { hold_new_series: 60 }',
      complaint:
        '1:29 metrics.hold_new_series: takes a duration, found the number 60 (write 60s for seconds, 60m for minutes)',
    },
    {
      said: 'metrics: { hold_new_series: }',
      complaint: '1:12 metrics.hold_new_series: has no value (write one, or remove the key)',
    },
    {
      said: 'metrics: { hold_new_serie: 60s }',
      complaint: '1:12 metrics.hold_new_serie: is not a metric family of a collector (did you mean hold_new_series?)',
    },
    {
      said: 'jobs: { overrides: [{ match: "a/.*" }] }',
      complaint:
        '1:21 jobs.overrides[0]: has no setting (give success_age or overdue_factor or critical or owner or note or runbook)',
    },
    {
      said: 'jobs: { overrides: [{ success_age: 1h }] }',
      complaint: '1:21 jobs.overrides[0]: match is missing (for example pay-.*)',
    },
    {
      said: 'jobs: { overrides: [{ match: "(", success_age: 1h }] }',
      complaint: '1:30 jobs.overrides[0].match: is not a regular expression (unterminated group)',
    },
    {
      said: 'jobs: { overrides: [{ match: a, success_age: 30s }] }',
      complaint: '1:46 jobs.overrides[0].success_age: is too short (at least 1m)',
    },
    {
      said: 'jobs: { overrides: [{ match: a, overdue: 2 }] }',
      complaint:
        '1:33 jobs.overrides[0].overdue: is not a known key (known here: critical, match, note, overdue_factor, owner, runbook, success_age)',
    },
  ])('refuses $said', async ({ said, complaint }) => {
    expect(await complain({ yaml: said })).toEqual([`config.yaml:${complaint}`]);
  });
});
