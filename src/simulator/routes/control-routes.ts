import { json, Router } from 'express';
import type { Control, NewToken } from '../control.ts';
import type { Fault } from '../faults.ts';
import { faultKinds } from '../faults.ts';
import { scenarios } from '../scenarios/scenario.ts';
import { send } from './exchange.ts';

/** The controls over HTTP, for a person with curl or another process. */
export function createControlRouter(control: Control): Router {
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
    send(request, response, { status: 200, json: { controls, faultKinds, scenarios: stories } });
  });
  for (const { path, act } of rows) {
    router.post(`/${path}`, (request, response) => {
      // People type these bodies; a wrong one shows in what the service then does.
      act(control, (request.body ?? {}) as Body);
      send(request, response, { status: 200, json: { done: true } });
    });
  }
  return router;
}

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
];

function row<T>(path: string, example: unknown, about: string, act: (control: Control, body: T) => void): Row {
  // The body's shape is what the example shows.
  return { path, example, about, act: act as (control: Control, body: Body) => void };
}
