import type { Verdict } from '../../src/expected-runs/deciding/watched-job.ts';
import type { Why } from '../../src/expected-runs/deciding/why.ts';
import type { ScheduledJob } from '../../src/expected-runs/expected-runs.ts';
import { jobListRoute } from '../../src/http/pages/jobs/job-list.ts';
import { jobPageRoute } from '../../src/http/pages/jobs/job-page.ts';
import { atMs } from './some-status.ts';

const facts = [{ fact: 'the server was passive', atMs: atMs - 7_200_000, source: 'execution-mode' }];
const verdicts: readonly Verdict[] = [
  { is: 'ran', expectedMs: atMs - 14_400_000, delayMs: 3000, runId: 4711 },
  { is: 'off', expectedMs: atMs - 10_800_000, what: 'schedule', facts },
  { is: 'undecided', expectedMs: atMs - 7_200_000, why: 'edited' },
  { is: 'missed', expectedMs: atMs - 3_600_000, reason: 'passive', facts },
];

/** The pages of a job that missed a run, and of one with a long name. */
export function someJobPages(longWord: string) {
  const usual = { server: 'prod', project: 'pay', group: 'nightly', nextMs: atMs + 3_600_000, isOff: false };
  const job: ScheduledJob = { ...usual, name: 'settle', verdicts };
  const jobs = [job, { ...usual, name: longWord, verdicts: [] }];
  const why: Why = {
    server: 'prod',
    id: 'j1',
    project: 'pay',
    group: 'nightly',
    name: 'settle',
    verdict: 'missed',
    expected: undefined,
    reason: 'passive',
    facts: [{ fact: 'the server was passive', at: new Date(atMs - 7_200_000).toISOString(), source: 'execution-mode' }],
    last_run: undefined,
    next_run: undefined,
    sentence: 'Did not run: the server was passive.',
  };
  return [
    jobListRoute({ jobs: () => jobs, nowMs: () => atMs }),
    jobPageRoute({ find: () => ({ job, why }), nowMs: () => atMs }),
  ];
}
