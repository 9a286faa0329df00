import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

type Delivered = {
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};

export type AlertHook = Awaited<ReturnType<typeof startAlertHook>>;

/** A webhook that stores what Alertmanager delivers. */
export async function startAlertHook() {
  const all: Delivered[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      // The shape of Alertmanager's webhook.
      all.push(...(JSON.parse(body) as { readonly alerts: readonly Delivered[] }).alerts);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    delivered: (alertname: string, status: 'firing' | 'resolved', more: Readonly<Record<string, string>> = {}) =>
      eventually(
        async () => {
          const wanted = Object.entries({ alertname, ...more });
          const alert = all.find(
            (one) => one.status === status && wanted.every(([label, value]) => one.labels[label] === value),
          );
          if (alert === undefined) throw new Error(`${alertname} was not delivered as ${status}`);
          return alert;
        },
        { limitMs: 45_000 },
      ),
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
