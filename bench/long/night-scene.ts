import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { command, work } from '../../simulator/scenarios/build.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { type Door, openDoor } from './door.ts';

export const token = 'a-read-only-token';

export type Place = {
  readonly simulator: Simulator;
  /** The connections to the address of the server, and to those of its members. */
  readonly door: Door;
  readonly memberDoors: readonly Door[];
  readonly jobs: readonly string[];
};

/** The chance of a failure is practically 0; `failureFactor` can raise it. */
const rarely = 1e-9;

/** Two projects of two jobs that run once a minute, with a thread for each job. */
export async function startPlace(options: SimulatorOptions = {}): Promise<Place> {
  const simulator = await startSimulator({
    scenario: 'empty',
    threadPoolSize: 4,
    memberAddresses: options.members !== undefined,
    ...options,
  });
  simulator.control.addToken({ token });
  const jobs: string[] = [];
  for (const project of ['pay', 'shop']) {
    simulator.control.createProject(project, ['web01', 'web02']);
    for (const [index, name] of ['settle', 'probe'].entries())
      jobs.push(
        simulator.control.createJob(project, {
          name,
          group: 'nightly',
          work: work(['web01', 'web02'], [command('run', 5, rarely)]),
          schedule: { everyMs: 60_000, offsetMs: 7000 + index * 20_000 },
        }),
      );
  }
  const [door, ...memberDoors] = await Promise.all(
    [simulator.url, ...simulator.memberUrls].map((url) => openDoor(Number(new URL(url).port))),
  );
  if (door === undefined) throw new Error('it has no address');
  return { simulator, door, memberDoors, jobs };
}

/** Returns the shipped routes and inhibitions with receivers of the test. */
export function routesTo(url: string): string {
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const routes = read('deploy/alertmanager/route.yaml');
  const hook = `webhook_configs: [{ url: '${url}', send_resolved: true }]`;
  return `${routes.replaceAll(/^ {2}- name: \w+$/gm, (receiver) => `${receiver}\n    ${hook}`)}\n${read('alerts/alertmanager-inhibitions.yaml')}`;
}

export type Note = {
  readonly every: string;
  readonly server: string;
  readonly alert: string;
  readonly status: string;
  readonly atMs: number;
  readonly startsAtMs: number;
  /** The annotations of the first alert of the notification. */
  readonly annotations: Readonly<Record<string, string>>;
};

/** Stores the notifications of the Alertmanagers. */
export function createNotes() {
  const notes: Note[] = [];
  const hook = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      // The cast has only the used fields of Alertmanager's webhook.
      const { status, groupLabels, alerts } = JSON.parse(body) as {
        readonly status: string;
        readonly groupLabels: Readonly<Record<string, string>>;
        readonly alerts: readonly {
          readonly startsAt: string;
          readonly annotations: Readonly<Record<string, string>>;
        }[];
      };
      const startsAtMs = Math.max(...alerts.map(({ startsAt }) => Date.parse(startsAt)));
      const { server = '', alertname = '' } = groupLabels;
      const every = request.url?.slice(1) ?? '';
      notes.push({
        every,
        server,
        alert: alertname,
        status,
        atMs: Date.now(),
        startsAtMs,
        annotations: alerts[0]?.annotations ?? {},
      });
      response.end();
    });
  });
  const listening = new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  return {
    all: (): readonly Note[] => notes,
    url: async () => {
      await listening;
      // This cast is safe: the address of a TCP server has a port.
      return `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
    },
    stop: () =>
      new Promise((resolve) => {
        hook.close(resolve);
        hook.closeAllConnections();
      }),
  };
}
