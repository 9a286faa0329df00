import { type Place, token } from './night-scene.ts';

/** One server with one problem, and what pages must show about it. */
export type Trouble = {
  readonly server: string;
  /** Called before the exporters start. */
  readonly before?: (place: Place) => unknown;
  readonly begin?: (place: Place) => unknown;
  readonly members?: number;
  /** The number of scheduler threads; one for each job if absent. */
  readonly threads?: number;
  /** The expected alert; undefined if the problem causes none within an hour. */
  readonly alert: string | undefined;
  /** The minutes until the alert, if later than the first check. */
  readonly alertMinutes?: number;
  /** The line of the server on the front page, if there must be one. */
  readonly line: RegExp | undefined;
  /** A text of the page to which the alert links. */
  readonly page?: RegExp;
  /** The output of `why` for the job that runs each minute. */
  readonly why: RegExp;
};

const silent = /(?:no answer|not (?:answered|responded)|not responding)(?: from "\w+")?\W+since/i;

export const troubles: readonly Trouble[] = [
  {
    server: 'down',
    begin: ({ door }) => door.close(),
    alert: 'AutomationServiceDown',
    line: /not responding|no answer|refused/i,
    page: silent,
    why: silent,
  },
  {
    server: 'token',
    begin: ({ simulator }) => simulator.control.revokeToken(token),
    alert: 'AutomationCredentialsRejected',
    line: /credentials|token/i,
    page: /credentials|token/i,
    why: /no answer since|credentials/i,
  },
  {
    server: 'passive',
    begin: ({ simulator }) => simulator.control.setExecutionMode('passive'),
    alert: 'AutomationExecutionModePassive',
    line: /passive/i,
    page: /passive/i,
    why: /passive/i,
  },
  {
    server: 'disabled',
    before: ({ simulator, jobs }) => simulator.control.changeJob(jobs[0] ?? '', { enabled: false }),
    alert: undefined,
    line: undefined,
    why: /disabled|switched off/i,
  },
  {
    server: 'overlap',
    threads: 10,
    // Each run takes more than an hour, so it is still running at later scheduled times.
    begin: ({ simulator }) => simulator.control.setConditions({ durationFactor: 1200 }),
    alert: 'AutomationScheduleMissed',
    line: /missed|late or missing/i,
    page: /previous run|still running|overlap/i,
    why: /previous run|still running|overlap/i,
  },
  {
    server: 'saturated',
    begin: ({ simulator, jobs }) => simulator.control.setConditions({ stuckJobs: jobs }),
    alert: 'AutomationSchedulerSaturated',
    line: /thread/i,
    page: /thread/i,
    why: /previous run|still running|overlap|thread/i,
  },
  {
    server: 'owner-gone',
    members: 3,
    // No other member takes over the jobs of this member.
    begin: ({ simulator, memberDoors }) => {
      simulator.control.loseMember(0, { isTakenOver: false });
      return memberDoors[0]?.close();
    },
    alert: 'AutomationScheduleOwnerGone',
    line: /member/i,
    page: /member/i,
    why: /member/i,
  },
  {
    server: 'clock-10-min',
    begin: ({ simulator }) => simulator.control.setClockSkew(600_000),
    alert: 'AutomationServerClockSkewed',
    line: /its clock differs/,
    page: /its clock differs/,
    why: /^Ran at/,
  },
  {
    server: 'clock-26-h',
    // The clock is ahead for a minute; then the server starts nothing for 26 hours.
    begin: ({ simulator }) => {
      simulator.control.setClockSkew(26 * 3_600_000);
      setTimeout(() => simulator.control.setClockSkew(0), 60_000);
    },
    alert: 'AutomationScheduleMissed',
    line: /missed|late or missing/i,
    page: /set ahead to/i,
    why: /did not run at.*set ahead to/i,
  },
  {
    server: 'log-storage',
    begin: ({ simulator }) => simulator.control.failLogStorage(true),
    alert: 'AutomationLogStorageFailing',
    line: /log storage|logs/i,
    page: /log storage|logs/i,
    why: /^Ran at/,
  },
  {
    server: 'check',
    begin: ({ simulator }) => simulator.control.failHealthCheck('dataSource.connection.time'),
    alert: 'AutomationHealthcheckFailing',
    line: /health ?check/i,
    page: /dataSource\.connection\.time/,
    why: /^Ran at/,
  },
  {
    server: 'node',
    begin: ({ simulator }) => simulator.control.setConditions({ downNodes: ['web01'] }),
    alert: 'AutomationNodeFailingEverywhere',
    line: /web01|executions fail/,
    page: /web01/,
    why: /^pay\/nightly\/settle failed .* on web01: target/,
  },
  {
    server: 'half-blind',
    begin: ({ simulator }) => simulator.control.addToken({ token, policy: { jobs: ['shop'] } }),
    alert: 'AutomationExporterExecutionsHidden',
    alertMinutes: 22,
    line: /does not show all executions/,
    page: /does not show all executions/,
    why: /hidden|not watched|may not|cannot|lacks|no job|not shown/i,
  },
  {
    server: 'member-away',
    members: 2,
    begin: ({ memberDoors }) => memberDoors[1]?.close(),
    alert: 'AutomationServiceDown',
    line: /member-away\/m2/,
    page: /member-away\/m2\W+is not responding/,
    why: /^Ran at/,
  },
  {
    server: 'failing',
    begin: ({ simulator }) => simulator.control.setConditions({ failureFactor: 1e9 }),
    alert: 'AutomationJobFailingRepeatedly',
    line: /fail/i,
    page: /failed/i,
    why: /failed/i,
  },
  { server: 'healthy', alert: undefined, line: undefined, why: /^Ran at/ },
];
