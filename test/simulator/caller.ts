import { command, work } from '../../simulator/scenarios/build.ts';
import type { Simulator, SimulatorOptions } from '../../simulator/simulator.ts';
import { startSimulator } from '../../simulator/simulator.ts';

export const noon = Date.UTC(2026, 0, 15, 12, 0, 0);
export const settleId = '11111111-1111-4111-a111-111111111111';
export const backupId = '22222222-2222-4222-a222-222222222222';

type Reply = {
  readonly status: number;
  readonly headers: Headers;
  /** The body, in which `{base}` stands for the address of the service. */
  readonly text: string;
  readonly json: unknown;
};

type Ask = {
  readonly method?: string;
  readonly accept?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Starts an installation without content, whose clock shows noon. */
export function startEmpty(options: SimulatorOptions = {}): Promise<Simulator> {
  return startSimulator({ scenario: 'empty', clock: 'free', token: 'secret-token', retained: Infinity, ...options });
}

/** Starts a service with one project, two jobs and two finished executions, all at known times. */
export async function startSmall(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startEmpty(options);
  const { control } = simulator;
  control.createProject('pay', ['web01', 'web02']);
  control.createJob('pay', { name: 'backup' }, backupId);
  control.createJob(
    'pay',
    {
      name: 'settle',
      group: 'nightly',
      description: 'Settles the day',
      schedule: { everyMs: 3_600_000, offsetMs: 0 },
      options: { mode: 'full' },
    },
    settleId,
  );
  control.addFinished('pay', {
    jobId: settleId,
    startedAtMs: noon - 60_000 + 123,
    endedAtMs: noon - 50_000 + 456,
    type: 'scheduled',
    user: 'scheduler',
    options: { mode: 'full' },
  });
  control.addFinished('pay', { startedAtMs: noon - 30_000, endedAtMs: noon - 20_000, status: 'failed', user: 'amira' });
  return simulator;
}

export async function ask(simulator: Simulator, path: string, options: Ask = {}): Promise<Reply> {
  const { method = 'GET', body, headers = { 'X-Rundeck-Auth-Token': simulator.token } } = options;
  const accept = 'accept' in options ? options.accept : 'application/json';
  const response = await fetch(`${simulator.url}/${path}`, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...(accept === undefined ? {} : { accept }) },
    ...(body === undefined ? {} : { body }),
  });
  const text = (await response.text()).replaceAll(simulator.url, '{base}');
  return { status: response.status, headers: response.headers, text, json: toJson(text) };
}

/** The header for the token in the neutral dialect. */
export function asService(simulator: Simulator): Ask {
  return { headers: { 'X-Service-Auth-Token': simulator.token } };
}

export function oneStep(timeoutMs?: number, failing = false) {
  return work(['n1'], [command('run', 10, failing ? 1 : 0)], { timeoutMs });
}

type OneJob = SimulatorOptions & {
  readonly failing?: boolean;
  readonly timeoutMs?: number;
  readonly retry?: { readonly attempts: number; readonly delayMs: number };
};

/** Starts a service with one project, and one job of one step of about ten seconds, known as `job-1`. */
export async function startOneJob({ failing = false, timeoutMs, retry, ...options }: OneJob): Promise<Simulator> {
  const simulator = await startEmpty(options);
  simulator.control.createProject('p', ['n1']);
  simulator.control.createJob(
    'p',
    { name: 'one', work: oneStep(timeoutMs, failing), ...(retry === undefined ? {} : { retry }) },
    'job-1',
  );
  return simulator;
}

/** Advances the time until an execution has ended, and returns its status. */
export function untilEnd(simulator: Simulator, id: number): string | undefined {
  for (let count = 0; count < 100; count += 1) {
    const found = simulator.truth().executions.find((execution) => execution.id === id);
    if (found?.visibleAtMs !== undefined) {
      return found.status;
    }
    simulator.advance(500);
  }
  return undefined;
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
