import type { Router } from 'express';
import type { Why } from '../../expected-runs/deciding/why.ts';
import { createRoutes } from '../server/routes.ts';

/** Returns the watched jobs with this path or id; undefined for a server that is not configured. */
export type FindWhy = (server: string, job: string) => readonly Why[] | undefined;

/** Suggests a similar name for an unknown server or job. */
export type HintAt = (server: string, job: string) => string | undefined;

/** `GET /api/why?server=NAME&job=PROJECT/GROUP/NAME`: the decision about the last expected time of a job. */
export function whyRoute(find: FindWhy, hintAt: HintAt): Router {
  const router = createRoutes();
  router.get('/api/why', (request, response) => {
    const { server, job } = request.query;
    response.set('cache-control', 'no-store');
    const refuse = (status: number, text: string): void => {
      response.status(status).type('text/plain').send(`${text}\n`);
    };
    if (typeof server !== 'string' || typeof job !== 'string' || job === '') {
      refuse(400, 'Name a server and a job: ?server=NAME&job=PROJECT/GROUP/NAME');
      return;
    }
    const found = find(server, job);
    const refuseUnknown = (text: string): void => {
      const hint = hintAt(server, job);
      refuse(404, hint === undefined ? text : `${text} ${hint}`);
    };
    const [first, ...others] = found ?? [];
    if (found === undefined) refuseUnknown(`No server is named ${JSON.stringify(server)}.`);
    else if (first === undefined)
      refuseUnknown(`No watched scheduled job is named ${JSON.stringify(job)} on ${server}.`);
    else if (others.length > 0) refuse(409, `Several jobs fit, name one by its id: ${found.map(toPath).join(', ')}.`);
    else response.json(first);
  });
  return router;
}

function toPath({ project, group, name, id }: Why): string {
  return `${[project, group, name].filter((part) => part !== '').join('/')} (${id})`;
}
