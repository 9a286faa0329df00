import { json, type Request, Router, urlencoded } from 'express';
import type { Control } from '../control.ts';
import { controls } from '../control-table.ts';
import { faultKinds } from '../faults.ts';
import { type Markup, page, renderPage } from '../page.ts';
import { scenarios } from '../scenarios/scenario.ts';
import { send } from './exchange.ts';

type Views = { readonly truth: () => unknown; readonly requests: () => unknown };

/** The controls over HTTP, for curl or another process. */
export function createControlRouter(control: Control, { truth, requests }: Views): Router {
  const router = Router();
  router.use(json());
  router.get('/', (request, response) => {
    if (request.accepts(['json', 'html']) === 'html') {
      const text = renderControls(findPress(request.query['done']));
      send(request, response, { status: 200, text, contentType: 'text/html;charset=utf-8' });
      return;
    }
    const list = controls.map(({ path, example, about }) => ({
      method: 'POST',
      path: `/simulator/${path}`,
      example,
      about,
    }));
    const stories = scenarios.map(({ name, about, alerts }) => ({ name, about, alerts }));
    const views = ['truth', 'requests', 'traces'].map((view) => `GET /simulator/${view}`);
    send(request, response, { status: 200, json: { controls: list, views, faultKinds, scenarios: stories } });
  });
  router.get('/truth', (request, response) => send(request, response, { status: 200, json: truth() }));
  router.get('/requests', (request, response) => send(request, response, { status: 200, json: requests() }));
  for (const { path, example, perform } of controls) {
    router.post(`/${path}`, (request, response) => {
      const problem = perform(control, request.body ?? {});
      if (problem === undefined) send(request, response, { status: 200, json: { done: true } });
      else send(request, response, { status: 400, json: { error: problem, example } });
    });
  }
  router.post('/press', urlencoded({ extended: false }), (request, response) => {
    const { press: name } = request.body as Readonly<Record<string, unknown>>;
    const press = isOwn(request) ? findPress(name) : undefined;
    const problem = press === undefined ? 'the button is unknown' : press.perform(control, press.body);
    if (problem !== undefined) {
      send(request, response, { status: 400, text: `Nothing was changed: ${problem}.\n` });
      return;
    }
    send(request, response, {
      status: 303,
      headers: { location: `/simulator?done=${encodeURIComponent(String(name))}` },
    });
  });
  return router;
}

/** Reports whether a form was sent from the simulator's own page. */
function isOwn({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}

const presses = controls.flatMap(({ buttons, perform }) => buttons.map((button) => ({ ...button, perform })));

type Press = (typeof presses)[number];

function toName({ group, text }: Press): string {
  return `${group}: ${text}`;
}

function findPress(name: unknown): Press | undefined {
  return presses.find((press) => toName(press) === name);
}

function renderControls(done: Press | undefined): string {
  const note = done === undefined ? undefined : page`<p class="well" role="status">✓ ${toName(done)}</p>\n`;
  const groups = [...Map.groupBy(presses, ({ group }) => group)];
  return renderPage(
    'Controls of the simulated service',
    page`${note}<p class="dim">Each change is seen by the exporter at its next poll. Alerts that wait for minutes fire after these.</p>
${groups.map(([group, inside]) => page`<h2>${group}</h2>\n<form method="post" action="/simulator/press">${inside.map(renderButton)}</form>\n`)}
<h2>More, with curl</h2>
<p><code>curl /simulator</code> lists all controls with an example each.</p>`,
  );
}

function renderButton(press: Press): Markup {
  return page`<button name="press" value="${toName(press)}" aria-label="${toName(press)}">${press.text}</button>\n`;
}
