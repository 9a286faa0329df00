import { type Case, counter, gauge } from './case.ts';

const job = 'server="prod",project="pay",job_group="nightly",job_name="settle"';
const other = 'server="prod",project="shop",job_group="",job_name="index"';
const missed = 'automation_schedule_missed_total';
const bucket = 'automation_schedule_delay_seconds_bucket{server="prod",project="pay",le=';
const starts = 'automation_schedule_delay_seconds_count{server="prod",project="pay"}';
const neverMissed = `${missed}{${job},reason="unknown"}`;
const punctuality = {
  sloth_id: 'automation-schedules-by-server',
  sloth_service: 'automation',
  sloth_slo: 'schedules-by-server',
};
const ofSchedule = { dashboard: '/d/automation-schedule?var-server=prod', page: '/schedule/prod' };

export const scheduleCases: readonly Case[] = [
  {
    alert: 'AutomationScheduleMissed',
    series: {
      [`${missed}{${job},reason="passive"}`]: counter(0, 1),
      [`${missed}{${other},reason="passive"}`]: counter(0, 1),
      [`${missed}{${job},reason="unknown"}`]: counter(0, 0),
    },
    below: {
      [`${missed}{${job},reason="passive"}`]: counter(0, 0),
      [`${missed}{${other},reason="passive"}`]: counter(0, 0),
    },
    firesAfter: 0,
    resolvesAfter: 30,
    labels: { server: 'prod', reason: 'passive', severity: 'warning' },
    summary: 'Scheduled runs on prod did not happen: passive',
    description: 'Scheduled runs on prod that did not happen within the last 30m: about 1. The cause is passive.',
    ...ofSchedule,
  },
  {
    alert: 'AutomationScheduleMissedCritical',
    series: {
      [`${missed}{${job},reason="passive"}`]: counter(0, 1),
      [`${missed}{${other},reason="passive"}`]: counter(0, 1),
      [`automation_schedule_critical{${job}}`]: gauge(1, 1),
    },
    below: {
      [`${missed}{${job},reason="passive"}`]: counter(0, 0),
      [`${missed}{${other},reason="passive"}`]: counter(0, 1),
    },
    firesAfter: 0,
    resolvesAfter: 30,
    labels: { server: 'prod', reason: 'passive', severity: 'critical' },
    summary: 'Critical scheduled runs on prod did not happen: passive',
    description:
      'Scheduled runs of critical jobs on prod that did not happen within the last 30m: about 1. The cause is passive.',
    ...ofSchedule,
  },
  {
    alert: 'AutomationScheduleOwnerGone',
    series: { [`${missed}{${job},reason="orphaned"}`]: counter(0, 1) },
    below: { [`${missed}{${job},reason="orphaned"}`]: counter(0, 0) },
    firesAfter: 0,
    resolvesAfter: 30,
    labels: { server: 'prod', reason: 'orphaned', severity: 'critical' },
    summary: 'Jobs on prod belong to a member that does not respond',
    description:
      'Scheduled runs on prod that did not happen within the last 30m, because the member that owns their schedules does not respond: about 1.',
    ...ofSchedule,
  },
  {
    alert: 'AutomationScheduleLate',
    series: {
      [`${bucket}"300.0"}`]: counter(1, 0),
      [`${bucket}"600.0"}`]: counter(1, 1),
      [`${bucket}"+Inf"}`]: counter(1, 1),
    },
    below: { [`${bucket}"300.0"}`]: counter(1, 0.98) },
    firesAfter: 10.5,
    resolvesAfter: 29,
    labels: { server: 'prod', project: 'pay', severity: 'warning' },
    summary: 'Scheduled runs of pay on prod start late',
    description: 'Of the scheduled runs of pay on prod within the last 30m, 5 % started more than 5 minutes late.',
    ...ofSchedule,
  },
  {
    alert: 'AutomationSchedulerWillSaturate',
    series: { 'automation_scheduler_expected_saturation_timestamp_seconds{server="prod"}': gauge('none', 90_000) },
    below: { 'automation_scheduler_expected_saturation_timestamp_seconds{server="prod"}': gauge('none') },
    firesAfter: 15,
    lastsMinutes: 30,
    resolvesAfter: 3,
    labels: { server: 'prod', severity: 'info' },
    summary: 'More runs than threads are expected on prod',
    description:
      'At 1970-01-02 01:00:00 +0000 UTC, more runs are expected at the same time on prod than its scheduler has threads: some runs will start late.',
    ...ofSchedule,
  },
  {
    alert: 'AutomationRunsAtRisk',
    series: {
      'automation_schedule_at_risk_runs{server="prod",reason="node_failing",horizon="12h"}': gauge('none', 14),
      'automation_schedule_at_risk_runs{server="prod",reason="passive",horizon="12h"}': gauge(0, 0),
      [`automation_job_next_run_at_risk{${job},reason="node_failing"}`]: gauge('none', 1),
      'automation_node_failing_jobs{server="prod",node="db03"}': gauge('none', 2),
      'automation_node_failing_jobs{server="test",node="db04"}': gauge('none', 2),
    },
    below: { 'automation_schedule_at_risk_runs{server="prod",reason="node_failing",horizon="12h"}': gauge('none', 0) },
    firesAfter: 60,
    lastsMinutes: 80,
    resolvesAfter: 3,
    labels: { server: 'prod', reason: 'node_failing', horizon: '12h', severity: 'warning' },
    summary: 'Coming runs on prod are at risk: node_failing',
    description:
      'Scheduled runs of the next 12 hours on prod that are at risk: 14. The reason is node_failing. Next: pay/nightly/settle. Failing nodes: db03.',
    ...ofSchedule,
    page: '/tonight?server=prod',
  },
  {
    alert: 'AutomationRunsAtRiskCritical',
    series: {
      [`automation_job_next_run_at_risk{${job},reason="passive"}`]: gauge('none', 1),
      [`automation_job_next_run_at_risk{${other},reason="passive"}`]: gauge('none', 1),
      [`automation_job_next_run_timestamp_seconds{${job}}`]: gauge('none', 7000),
      [`automation_job_next_run_timestamp_seconds{${other}}`]: gauge('none', 7000),
      [`automation_schedule_critical{${job}}`]: gauge('none', 1),
    },
    below: {
      [`automation_job_next_run_at_risk{${job},reason="passive"}`]: gauge('none', 1),
      [`automation_job_next_run_timestamp_seconds{${job}}`]: gauge('none', 90_000),
      [`automation_schedule_critical{${job}}`]: gauge('none', 1),
    },
    firesAfter: 0,
    resolvesAfter: 3,
    labels: { server: 'prod', reason: 'passive', severity: 'critical' },
    summary: 'Critical runs on prod are at risk: passive',
    description:
      'Critical jobs on prod whose next run starts within 2 hours and is at risk: 1. The reason is passive. Next: pay/nightly/settle.',
    ...ofSchedule,
    page: '/tonight?server=prod',
  },
  {
    alert: 'AutomationJobDisabledTooLong',
    series: {
      [`automation_job_disabled_since_timestamp_seconds{${job},what="job"}`]: gauge('none', -700_000),
      [`automation_job_disabled_since_timestamp_seconds{${job},what="schedule"}`]: gauge('none', -700_000),
    },
    below: {
      [`automation_job_disabled_since_timestamp_seconds{${job},what="job"}`]: gauge('none', -500_000),
      [`automation_job_disabled_since_timestamp_seconds{${job},what="schedule"}`]: gauge('none', -500_000),
    },
    firesAfter: 15,
    lastsMinutes: 30,
    resolvesAfter: 3,
    labels: { server: 'prod', project: 'pay', severity: 'info' },
    summary: 'Scheduled jobs of pay on prod have been off for a long time',
    description:
      'Scheduled jobs of pay on prod that have been switched off for more than 7 days, or whose schedules have been: 1.',
    ...ofSchedule,
    page: '/jobs?state=off&server=prod',
  },
  {
    alert: 'AutomationPunctualityBurnFast',
    series: { [`${bucket}"300.0"}`]: counter(10, 0), [starts]: counter(10, 10), [neverMissed]: counter(0, 0) },
    below: { [`${bucket}"300.0"}`]: counter(10, 9.5) },
    firesAfter: 2.5,
    resolvesAfter: 30,
    labels: { server: 'prod', severity: 'critical', ...punctuality },
    summary: 'High rate of late or missed scheduled runs on prod',
    description:
      '60% of the scheduled runs on prod start more than 5 minutes late, or not at all. At this rate the budget of 30 days is spent in less than five days.',
    ...ofSchedule,
  },
  {
    alert: 'AutomationPunctualityBurnSlow',
    series: { [`${bucket}"300.0"}`]: counter(10, 9.6), [starts]: counter(10, 10), [neverMissed]: counter(0, 0) },
    below: { [`${bucket}"300.0"}`]: counter(10, 9.92) },
    firesAfter: 39.5,
    lastsMinutes: 47,
    resolvesAfter: 135,
    labels: { server: 'prod', severity: 'warning', ...punctuality },
    summary: 'Too many scheduled runs on prod are late or missing',
    description:
      '3.232% of the scheduled runs on prod start more than 5 minutes late, or not at all. At this rate the budget of 30 days is spent before 30 days are over.',
    ...ofSchedule,
  },
];
