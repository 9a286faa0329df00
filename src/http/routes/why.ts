import type { Router } from 'express';
import type { Why } from '../../expected-runs/deciding/why.ts';
import type { AboutJob } from '../../status/shown-job.ts';
import type { AboutRuns, WhyEnded, WhyOfJob } from '../../status/why-failed.ts';
import { createRoutes } from '../server/routes.ts';

/** Returns the watched jobs with a path or id; undefined for a server that is not configured. */
type FindWhy = (server: string, job: string) => readonly Why[] | undefined;

/** Suggests a similar name for an unknown server or job. */
export type HintAt = (server: string, job: string) => string | undefined;

export type FindFailures = {
  readonly execution: (server: string, id: number) => WhyEnded | undefined;
  /** Returns facts from the runs of a job, and its configured owner, note and runbook. */
  readonly more: (job: Why) => AboutJob & AboutRuns;
  /** Returns a job without a watched schedule; undefined if nothing is known about the job. */
  readonly unscheduled: (server: string, path: string) => WhyOfJob | undefined;
};

/**
 * `GET /api/why?server=NAME&job=PROJECT/GROUP/NAME`: the decision about the last scheduled time of a job, and its last failure.
 * With `&execution=ID` instead of a job, the response says how an execution ended.
 */
export function whyRoute(find: FindWhy, hintAt: HintAt, failures: FindFailures = noFailures): Router {
  const router = createRoutes();
  router.get('/api/why', (request, response) => {
    const { server, job, execution } = request.query;
    response.set('cache-control', 'no-store');
    const refuse = (status: number, text: string): void => {
      response.status(status).type('text/plain').send(`${text}\n`);
    };
    const refuseUnknown = (text: string, name: string, path = ''): void => {
      const hint = hintAt(name, path);
      refuse(404, hint === undefined ? text : `${text} ${hint}`);
    };
    if (typeof server === 'string' && typeof execution === 'string') {
      const ended = /^\d{1,15}$/.test(execution) ? failures.execution(server, Number(execution)) : undefined;
      if (ended !== undefined) response.json(ended);
      else if (find(server, '') === undefined) refuseUnknown(toUnknown(server), server);
      else refuse(404, `No execution ${JSON.stringify(execution)} of ${JSON.stringify(server)} is known here.`);
      return;
    }
    if (typeof server !== 'string' || typeof job !== 'string' || job === '') {
      refuse(400, 'Name a server and a job: ?server=NAME&job=PROJECT/GROUP/NAME');
      return;
    }
    const found = find(server, job);
    const [first = failures.unscheduled(server, job), ...others] = found ?? [];
    if (found === undefined) refuseUnknown(toUnknown(server), server);
    else if (first === undefined)
      refuseUnknown(`No watched scheduled job is named ${JSON.stringify(job)} on ${server}.`, server, job);
    else if (others.length > 0)
      refuse(409, `Several jobs have this name; use the id of one: ${found.map(toPath).join(', ')}.`);
    else response.json({ ...failures.more(first), ...first });
  });
  return router;
}

const noFailures: FindFailures = {
  execution: () => undefined,
  more: () => ({ failure: undefined }),
  unscheduled: () => undefined,
};

function toUnknown(server: string): string {
  return `No server is named ${JSON.stringify(server)}.`;
}

function toPath({ project, group, name, id }: Why): string {
  return `${[project, group, name].filter((part) => part !== '').join('/')} (${id})`;
}
