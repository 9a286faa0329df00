import { json, type Request, Router, urlencoded } from 'express';
import type { Control, NewToken } from '../control.ts';
import type { ProjectChange, RunOptions } from '../control-estate.ts';
import { findPress, renderControls } from '../control-page.ts';
import type { Fault } from '../faults.ts';
import { faultKinds } from '../faults.ts';
import { scenarios } from '../scenarios/scenario.ts';
import type { Settings } from '../world/settings.ts';
import type { Conditions } from '../world/work.ts';
import { send } from './exchange.ts';

/** The controls over HTTP, for a person with curl or another process. */
export function createControlRouter(control: Control, { truth, requests }: Views): Router {
  const router = Router();
  router.use(json());
  router.get('/', (request, response) => {
    if (request.accepts(['json', 'html']) === 'html') {
      const done = findPress(request.query['done']);
      const text = renderControls(done && `${done.about}: ${done.text}`);
      send(request, response, { status: 200, text, contentType: 'text/html;charset=utf-8' });
      return;
    }
    const controls = rows.map(({ path, example, about }) => ({
      method: 'POST',
      path: `/simulator/${path}`,
      example,
      about,
    }));
    const stories = scenarios.map(({ name, about, alerts }) => ({ name, about, alerts }));
    const views = ['truth', 'requests', 'traces'].map((view) => `GET /simulator/${view}`);
    send(request, response, { status: 200, json: { controls, views, faultKinds, scenarios: stories } });
  });
  router.get('/truth', (request, response) => send(request, response, { status: 200, json: truth() }));
  router.get('/requests', (request, response) => send(request, response, { status: 200, json: requests() }));
  for (const row of rows) {
    router.post(`/${row.path}`, (request, response) => {
      const problem = perform(row, control, request.body ?? {});
      if (problem === undefined) send(request, response, { status: 200, json: { done: true } });
      else send(request, response, { status: 400, json: { error: problem, example: row.example } });
    });
  }
  router.post('/press', urlencoded({ extended: false }), (request, response) => {
    const press = isOwn(request) ? findPress((request.body as Readonly<Record<string, unknown>>)['press']) : undefined;
    const pressed = rows.find(({ path }) => path === press?.path);
    const problem = pressed === undefined ? 'the button is unknown' : perform(pressed, control, press?.body);
    if (problem !== undefined || press === undefined) {
      send(request, response, { status: 400, text: `Nothing was changed: ${problem}.\n` });
      return;
    }
    const name = String((request.body as Readonly<Record<string, unknown>>)['press']);
    send(request, response, { status: 303, headers: { location: `/simulator?done=${encodeURIComponent(name)}` } });
  });
  return router;
}

/** Reports whether a form was sent from our own page. */
function isOwn({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}

/** Does what is asked for; returns what is wrong with a body that makes no sense. */
function perform({ takes, act }: Row, control: Control, body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'the body is not a JSON object';
  const problem = findProblem(body as Readonly<Record<string, unknown>>, takes);
  if (problem !== undefined) return problem;
  try {
    act(control, body);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The kinds of a field: one of some words, or a type; with `?` it may be absent. */
type Takes = Readonly<
  Record<string, readonly string[] | 'text' | 'text?' | 'number' | 'number?' | 'flag' | 'flag?' | 'any?'>
>;

function findProblem(body: Readonly<Record<string, unknown>>, takes: Takes | undefined): string | undefined {
  if (takes === undefined) return undefined;
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(takes, name));
  if (unknown !== undefined) return `${unknown} is not a field; there are ${Object.keys(takes).join(', ')}`;
  for (const [name, kind] of Object.entries(takes)) {
    const value = body[name];
    if (typeof kind !== 'string') {
      if (!kind.includes(String(value))) return `${name} is one of ${kind.join(', ')}`;
    } else if (value === undefined || kind === 'any?') {
      if (!kind.endsWith('?')) return `${name} is missing`;
    } else if (typeof value !== types[kind]) return `${name} is not a ${types[kind]}`;
  }
  return undefined;
}

const types: Readonly<Record<string, string>> = {
  text: 'string',
  'text?': 'string',
  number: 'number',
  'number?': 'number',
  flag: 'boolean',
  'flag?': 'boolean',
};

/** The data that a reader may see. */
export type Views = { readonly truth: () => unknown; readonly requests: () => unknown };

/** The settings that JSON can say. */
type PlainSettings = Partial<Omit<Settings, 'metricsDisabled' | 'statePending'>>;

type Body = Partial<Record<string, never>>;
type Row = {
  readonly path: string;
  readonly example: unknown;
  readonly about: string;
  /** The fields of the body; undefined where any are taken. */
  readonly takes: Takes | undefined;
  readonly act: (control: Control, body: Body) => void;
};

const fields: Readonly<Record<string, Takes>> = {
  'execution-mode': { mode: ['active', 'passive'] },
  'log-storage': { failing: 'flag' },
  'health-check': { failing: 'any?' },
  metrics: { on: 'flag', name: 'text?' },
  'faults/clear': {},
  'token/access-rules': { token: 'text', rules: 'text' },
  'token/expire': { token: 'text' },
  'clock-skew': { ms: 'number', memberIndex: 'number?' },
  'save-delay': { ms: 'number' },
  'lose-member': { memberIndex: 'number' },
  conditions: { downNodes: 'any?', failureFactor: 'number?', durationFactor: 'number?', stuckJobs: 'any?' },
  abort: { id: 'number', user: 'text?' },
};

const rows: readonly Row[] = [
  row(
    'execution-mode',
    { mode: 'passive' },
    'Switch the execution mode.',
    (control, body: { mode: 'active' | 'passive' }) => control.setExecutionMode(body.mode),
  ),
  row(
    'log-storage',
    { failing: true },
    'Let the log storage fail, or work again.',
    (control, body: { failing: boolean }) => control.failLogStorage(body.failing),
  ),
  row(
    'health-check',
    { failing: 'dataSource.connection.time' },
    'Let a check fail; null heals it.',
    (control, body: { failing?: string | null }) => control.failHealthCheck(body.failing ?? undefined),
  ),
  row(
    'metrics',
    { on: false, name: 'healthcheck' },
    'Switch metrics endpoints off or on.',
    (control, body: { on: boolean; name?: string }) => control.switchMetrics(body.on, body.name),
  ),
  row(
    'fault',
    { kind: 'status', status: 503, path: 'system/info', times: 3 },
    'Spoil matching requests.',
    (control, body: Fault) => {
      if (!faultKinds.includes(body.kind)) throw new TypeError(`kind is one of ${faultKinds.join(', ')}`);
      control.addFault(body);
    },
  ),
  row('faults/clear', {}, 'End all faults.', (control) => control.clearFaults()),
  row(
    'token',
    { token: 'another-demo-token', policy: { projects: ['payments'] } },
    'Add a token.',
    (control, body: NewToken) => control.addToken(body),
  ),
  row(
    'token/access-rules',
    { token: 'another-demo-token', rules: 'the YAML of an access policy' },
    'Allow a token what an access policy says, in addition.',
    (control, body: { token: string; rules: string }) => control.addAccessRules(body.token, body.rules),
  ),
  row('token/expire', { token: 'another-demo-token' }, 'Let a token expire.', (control, body: { token: string }) =>
    control.expireToken(body.token),
  ),
  row(
    'clock-skew',
    { ms: 600000 },
    'Shift the clock of a member.',
    (control, body: { ms: number; memberIndex?: number }) => control.setClockSkew(body.ms, body.memberIndex),
  ),
  row(
    'restart',
    { downForMs: 5000, newDatabase: false },
    'Restart a member.',
    (control, body: Parameters<Control['restart']>[0]) => control.restart(body),
  ),
  row('save-delay', { ms: 50000 }, 'Let ends become visible later.', (control, body: { ms: number }) =>
    control.setSaveDelay(body.ms),
  ),
  row('lose-member', { memberIndex: 1 }, 'Take a member away for good.', (control, body: { memberIndex: number }) =>
    control.loseMember(body.memberIndex),
  ),
  row(
    'conditions',
    { downNodes: ['pay01'], failureFactor: 5 },
    'Change the weather for new runs.',
    (control, body: Partial<Conditions>) => control.setConditions(body),
  ),
  row('settings', { commercial: true }, 'Change the configuration of the server.', (control, body: PlainSettings) =>
    control.configure(body),
  ),
  row(
    'run-job',
    { id: 'uuid of the job', options: { mode: 'full' } },
    'Run a job.',
    (control, body: RunOptions & { id: string }) => {
      control.runJob(body.id, body);
    },
  ),
  row('abort', { id: 4711 }, 'Abort an execution.', (control, body: { id: number; user?: string }) =>
    control.abort(body.id, body.user),
  ),
  row(
    'project',
    { name: 'new-project', nodes: ['node01'] },
    'Create a project.',
    (control, body: { name: string; nodes?: string[] }) => control.createProject(body.name, body.nodes),
  ),
  row(
    'project/change',
    { name: 'payments', executionsEnabled: false },
    'Disable a project, its executions or its schedule.',
    (control, body: Omit<ProjectChange, 'nodes'> & { name: string }) => {
      const { name, ...change } = body;
      control.changeProject(name, change);
    },
  ),
];

function row<T>(path: string, example: unknown, about: string, act: (control: Control, body: T) => void): Row {
  // The body's shape is what the example shows, and what is checked before.
  return { path, example, about, takes: fields[path], act: act as (control: Control, body: Body) => void };
}
