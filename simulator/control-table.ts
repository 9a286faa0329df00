import * as z from 'zod';
import { type Control, tokenSchema } from './control.ts';
import { runSchema } from './control-estate.ts';
import { faultSchema } from './faults.ts';
import { settingsSchema } from './world/settings.ts';
import { conditionsSchema } from './world/work.ts';

type ControlRow = {
  readonly path: string;
  readonly about: string;
  readonly example: unknown;
  readonly buttons: readonly Button[];
  /** Performs the request in a body. Returns what is wrong with the request; undefined if nothing is. */
  readonly perform: (control: Control, body: unknown) => string | undefined;
};

type Button = { readonly group: string; readonly text: string; readonly body: unknown };

type Description<Body> = {
  readonly about: string;
  readonly body: z.ZodType<Body>;
  readonly example: NoInfer<Body>;
  readonly buttons?: readonly { readonly group: string; readonly text: string; readonly body: NoInfer<Body> }[];
  readonly act: (control: Control, body: NoInfer<Body>) => unknown;
};

function row<Body>(path: string, { about, body, example, buttons = [], act }: Description<Body>): ControlRow {
  return {
    path,
    about,
    example,
    buttons,
    perform: (control, given) => {
      const read = body.safeParse(given);
      if (!read.success) return read.error.issues.map(toText).join('; ');
      try {
        act(control, read.data);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

function toText({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

const paymentsKey = 'keys/team/payments/node.pem';
const failing = z.strictObject({ failing: z.boolean() });
const member = z.number().exactOptional();
const token = z.string();
const project = z.strictObject({
  description: z.string(),
  label: z.string(),
  disabled: z.boolean(),
  executionsEnabled: z.boolean(),
  scheduleEnabled: z.boolean(),
});

/** All controls over HTTP, for the routes, the list for curl and the buttons. */
export const controls: readonly ControlRow[] = [
  row('execution-mode', {
    about: 'Switch the execution mode.',
    body: z.strictObject({ mode: z.enum(['active', 'passive']) }),
    example: { mode: 'passive' },
    buttons: [
      { group: 'Execution mode', text: 'Make it passive', body: { mode: 'passive' } },
      { group: 'Execution mode', text: 'Make it active', body: { mode: 'active' } },
    ],
    act: (control, { mode }) => control.setExecutionMode(mode),
  }),
  row('log-storage', {
    about: 'Let the log storage fail, or work again.',
    body: failing,
    example: { failing: true },
    buttons: [
      { group: 'Log storage', text: 'Let it fail', body: { failing: true } },
      { group: 'Log storage', text: 'Let it work', body: { failing: false } },
    ],
    act: (control, body) => control.failLogStorage(body.failing),
  }),
  row('health-check', {
    about: 'Let a check fail; null repairs the check.',
    body: z.strictObject({ failing: z.string().nullable() }),
    example: { failing: 'dataSource.connection.time' },
    buttons: [
      { group: 'Health check of the database', text: 'Let it fail', body: { failing: 'dataSource.connection.time' } },
      { group: 'Health check of the database', text: 'Heal it', body: { failing: null } },
    ],
    act: (control, body) => control.failHealthCheck(body.failing ?? undefined),
  }),
  row('metrics', {
    about: 'Switch metrics endpoints off or on.',
    body: z.strictObject({ on: z.boolean(), name: z.string().exactOptional() }),
    example: { on: false, name: 'healthcheck' },
    act: (control, { on, name }) => control.switchMetrics(on, name),
  }),
  row('fault', {
    about: 'Disturb matching requests.',
    body: faultSchema,
    example: { kind: 'status', status: 503, path: 'system/info', times: 3 },
    buttons: [{ group: 'Server', text: 'Answer every request with 503', body: { kind: 'status', status: 503 } }],
    act: (control, body) => control.addFault(body),
  }),
  row('faults/clear', {
    about: 'End all faults.',
    body: z.strictObject({}),
    example: {},
    buttons: [{ group: 'Server', text: 'End all faults', body: {} }],
    act: (control) => control.clearFaults(),
  }),
  row('token', {
    about: 'Add a token.',
    body: tokenSchema,
    example: { token: 'another-demo-token', policy: { projects: ['payments'] } },
    act: (control, body) => control.addToken(body),
  }),
  row('token/access-rules', {
    about: 'Add the rights of an access policy to a token.',
    body: z.strictObject({ token, rules: z.string() }),
    example: { token: 'another-demo-token', rules: 'the YAML of an access policy' },
    act: (control, body) => control.addAccessRules(body.token, body.rules),
  }),
  row('token/expire', {
    about: 'Let a token expire.',
    body: z.strictObject({ token }),
    example: { token: 'another-demo-token' },
    act: (control, body) => control.expireToken(body.token),
  }),
  row('clock-skew', {
    about: 'Shift the clock of a member.',
    body: z.strictObject({ ms: z.number(), memberIndex: member }),
    example: { ms: 600_000 },
    buttons: [
      { group: 'Clock', text: 'Ten minutes ahead', body: { ms: 600_000 } },
      { group: 'Clock', text: 'Set it right', body: { ms: 0 } },
    ],
    act: (control, { ms, memberIndex }) => control.setClockSkew(ms, memberIndex),
  }),
  row('restart', {
    about: 'Restart a member.',
    body: z.strictObject({
      downForMs: z.number().exactOptional(),
      cleanupAfterMs: z.number().exactOptional(),
      memberIndex: member,
      newDatabase: z.boolean().exactOptional(),
    }),
    example: { downForMs: 5000, newDatabase: false },
    buttons: [
      { group: 'Server', text: 'Restart the server, without responses for a minute', body: { downForMs: 60_000 } },
    ],
    act: (control, body) => control.restart(body),
  }),
  row('save-delay', {
    about: 'Let ends of executions become visible later.',
    body: z.strictObject({ ms: z.number() }),
    example: { ms: 50_000 },
    act: (control, { ms }) => control.setSaveDelay(ms),
  }),
  row('lose-member', {
    about: 'Remove a member permanently.',
    body: z.strictObject({ memberIndex: z.number() }),
    example: { memberIndex: 1 },
    act: (control, { memberIndex }) => control.loseMember(memberIndex),
  }),
  row('conditions', {
    about: 'Change the conditions for new runs.',
    body: conditionsSchema.exactPartial(),
    example: { downNodes: ['pay01'], failureFactor: 5 },
    buttons: [
      { group: 'Jobs', text: 'Let steps fail six times as often', body: { failureFactor: 6 } },
      { group: 'Jobs', text: 'As usual', body: { failureFactor: 1 } },
      { group: 'Nodes', text: 'Take pay02 down', body: { downNodes: ['pay02'] } },
      { group: 'Nodes', text: 'Bring all back', body: { downNodes: [] } },
    ],
    act: (control, body) => control.setConditions(body),
  }),
  row('key', {
    about: 'Write a key; nodes refuse logins with a wrong key.',
    body: z.strictObject({ path: z.string(), user: z.string().exactOptional(), isWrong: z.boolean().exactOptional() }),
    example: { path: 'keys/team/payments/node.pem', user: 'bob', isWrong: true },
    buttons: [
      {
        group: 'Key of payments',
        text: 'Replace the key by a wrong key',
        body: { path: paymentsKey, user: 'bob', isWrong: true },
      },
      { group: 'Key of payments', text: 'Put it right', body: { path: paymentsKey, user: 'amira', isWrong: false } },
    ],
    act: (control, { path, ...how }) => control.writeKey(path, how),
  }),
  row('settings', {
    about: 'Change the configuration of the server.',
    body: settingsSchema.exactPartial(),
    example: { commercial: true },
    act: (control, body) => control.configure(body),
  }),
  row('run-job', {
    about: 'Run a job.',
    body: runSchema.extend({ id: z.string() }),
    example: { id: 'uuid of the job', options: { mode: 'full' } },
    act: (control, { id, ...run }) => control.runJob(id, run),
  }),
  row('abort', {
    about: 'Abort an execution.',
    body: z.strictObject({ id: z.number(), user: z.string().exactOptional() }),
    example: { id: 4711 },
    act: (control, { id, user }) => control.abort(id, user),
  }),
  row('project', {
    about: 'Create a project.',
    body: z.strictObject({ name: z.string(), nodes: z.array(z.string()).exactOptional() }),
    example: { name: 'new-project', nodes: ['node01'] },
    act: (control, { name, nodes }) => control.createProject(name, nodes),
  }),
  row('project/change', {
    about: 'Disable a project, its executions or its schedule.',
    body: project.exactPartial().extend({ name: z.string() }),
    example: { name: 'payments', executionsEnabled: false },
    act: (control, { name, ...change }) => control.changeProject(name, change),
  }),
];
