import { createTokenCredentials, type SecretSource } from '../../src/api/auth/credentials.ts';
import { type ClientOptions, createClient } from '../../src/api/client.ts';
import { createTransport } from '../../src/api/wire/transport.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { fakeClock } from './fake-clock.ts';

type TestClientOptions = Partial<Omit<ClientOptions, 'observe'>> & {
  readonly url: string;
  readonly token?: SecretSource;
};

/** The real client for a loopback server, without limits of requests and without pauses before retries. */
export function createTestClient({ url, token = fixedSecret('none'), ...options }: TestClientOptions) {
  const transport = options.transport ?? createTransport({ url, timeoutMs: 5000, clock: systemClock });
  const seen: string[] = [];
  const client = createClient({
    transport,
    credentials: createTokenCredentials(token),
    dialect: 'auto',
    apiVersion: 'auto',
    timeoutMs: 5000,
    budget: { requestsPerSecond: 1000, concurrency: 10 },
    clock: fakeClock({ random: () => 0 }),
    observe: {
      request: (endpoint, code) => seen.push(`${endpoint} ${code}`),
      error: (endpoint, kind) => seen.push(`${endpoint} ${kind}`),
      waited: ignore,
      inFlight: ignore,
      circuit: ignore,
    },
    ...options,
  });
  return {
    client,
    api: client.within({ lane: 'normal', forMs: 10_000 }),
    /** The requests with their results, in order: `system-info 200`, `system-info unauthorized`. */
    seen,
    close: transport.close,
  };
}

/** A secret that never changes. */
export function fixedSecret(value: string): SecretSource {
  const secret: SecretSource = { reveal: () => value, reread: async () => secret };
  return secret;
}

function ignore(): void {}
