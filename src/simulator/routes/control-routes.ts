import { json, Router } from 'express';
import type { Control, NewToken } from '../control.ts';
import type { ProjectChange, RunOptions } from '../control-estate.ts';
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
    const controls = rows.map(({ path, example, about }) => ({
      method: 'POST',
      path: `/simulator/${path}`,
      example,
      about,
    }));
    const stories = scenarios.map(({ name, about }) => ({ name, about }));
    const views = ['truth', 'requests', 'traces'].map((view) => `GET /simulator/${view}`);
    send(request, response, { status: 200, json: { controls, views, faultKinds, scenarios: stories } });
  });
  router.get('/truth', (request, response) => send(request, response, { status: 200, json: truth() }));
  router.get('/requests', (request, response) => send(request, response, { status: 200, json: requests() }));
  for (const { path, act } of rows) {
    router.post(`/${path}`, (request, response) => {
      // People type these bodies; a wrong one shows in what the service then does.
      act(control, (request.body ?? {}) as Body);
      send(request, response, { status: 200, json: { done: true } });
    });
  }
  return router;
}

/** The data that a reader may see. */
export type Views = { readonly truth: () => unknown; readonly requests: () => unknown };

/** The settings that JSON can say. */
type PlainSettings = Partial<Omit<Settings, 'metricsDisabled' | 'statePending'>>;

type Body = Partial<Record<string, never>>;
type Row = {
  readonly path: string;
  readonly example: unknown;
  readonly about: string;
  readonly act: (control: Control, body: Body) => void;
};

const rows: readonly Row[] = [
  row(
    'execution-mode',
    { mode: 'passive' },
    'Switch the execution mode.',
    (control, body: { mode: 'active' | 'passive' }) =>
      control.setExecutionMode(body.mode === 'passive' ? 'passive' : 'active'),
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
  // The body's shape is what the example shows.
  return { path, example, about, act: act as (control: Control, body: Body) => void };
}
