import type { Router } from 'express';
import type { Why } from '../../expected-runs/deciding/why.ts';
import { createRoutes } from '../server/routes.ts';

/** Finds the watched jobs that a path or an id names; undefined for a server that is not configured. */
export type FindWhy = (server: string, job: string) => readonly Why[] | undefined;

/** `GET /api/why?server=NAME&job=PROJECT/GROUP/NAME`: what became of the last time at which a job was expected to run. */
export function whyRoute(find: FindWhy): Router {
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
    const [first, ...others] = found ?? [];
    if (found === undefined) refuse(404, `No server is named ${JSON.stringify(server)}.`);
    else if (first === undefined) refuse(404, `No watched scheduled job is named ${JSON.stringify(job)} on ${server}.`);
    else if (others.length > 0) refuse(409, `Several jobs fit, name one by its id: ${found.map(toPath).join(', ')}.`);
    else response.json(first);
  });
  return router;
}

function toPath({ project, group, name, id }: Why): string {
  return `${[project, group, name].filter((part) => part !== '').join('/')} (${id})`;
}
