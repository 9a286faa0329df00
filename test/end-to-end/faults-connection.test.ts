import dns from 'node:dns';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../api/certificates.ts';
import {
  type PlayedFault,
  playFault,
  type Series,
  soon,
  sumOf,
  type Watch,
  watchFaults,
  watchResources,
} from './fault-watch.ts';
import { startFaultyUpstream } from './faulty-upstream.ts';

let certificates: Certificates;

beforeAll(() => {
  if (!hasOpenssl) return;
  certificates = createCertificates();
  certificates.makeSelfSigned('ca', '/CN=test authority');
  certificates.makeSelfSigned('alone', '/CN=127.0.0.1');
  certificates.makeSigned('good', 'IP:127.0.0.1', 2);
  certificates.makeSigned('expired', 'IP:127.0.0.1', -1);
});
afterAll(() => {
  if (hasOpenssl) certificates.remove();
});

watchResources();

/** The circuit opens after five faults; then two vital polls each send two requests. */
const whileOpen = { first: 20, perSecond: 5 };

const down: Series = {
  automation_up: 0,
  automation_credentials_accepted: 1,
  automation_exporter_circuit_open: 1,
  'automation_exporter_collector_success{collector="system-info"}': 0,
  'automation_exporter_collector_success{collector="log-storage"}': 0,
  'automation_exporter_collector_enabled{collector="log-storage",reason=""}': 1,
  // The last values stay visible until they are too old.
  automation_scheduler_thread_pool_size: 10,
};

/** A fault of the simulator that lasts until it is cleared. */
function ofSimulator({ simulator }: Watch, fault: Parameters<Watch['simulator']['control']['addFault']>[0]) {
  return {
    begin: () => simulator.control.addFault(fault),
    end: () => simulator.control.clearFaults(),
  } satisfies Partial<PlayedFault>;
}

describe.concurrent('end-to-end/faults of the connection', { timeout: 45_000 }, () => {
  it('faults/row-1: refuses connections at the start: is down until it responds', async () => {
    await watchFaults({ before: (upstream) => upstream.die() }, async (watch) => {
      const kinds = await playFault(watch, {
        wellBefore: false,
        begin: () => {},
        end: watch.upstream.live,
        shows: {
          ...down,
          automation_credentials_accepted: undefined,
          automation_scheduler_thread_pool_size: undefined,
        },
        atMost: whileOpen,
      });
      expect(kinds).toEqual(['network']);
    });
  });

  it('faults/row-2: dies mid-run: keeps known values until the server returns', async () => {
    await watchFaults({}, async (watch) => {
      const { die, live } = watch.upstream;
      expect(await playFault(watch, { begin: die, end: live, shows: down, atMost: whileOpen })).toEqual(['network']);
    });
  });

  it('faults/row-3: hangs before headers: times out, and then sends only vital polls', async () => {
    await watchFaults({ timeout: '1s' }, async (watch) => {
      const { begin, end } = ofSimulator(watch, { kind: 'hang' });
      const askOnlyVital = async (): Promise<void> => {
        const { requests } = watch.upstream;
        const [asked, rounds] = [requests.length, watch.healthyRounds()];
        await soon(async () => expect(watch.healthyRounds()).toBeGreaterThanOrEqual(rounds + 4));
        // All other requests are rare probes.
        const others = requests.slice(asked).filter((path) => !/\/system\/(info|executions)/.test(path));
        expect(others.length).toBeLessThanOrEqual(3);
        end();
      };
      const kinds = await playFault(watch, { begin, end: askOnlyVital, shows: down, atMost: whileOpen });
      expect(kinds).toEqual(['timeout']);
    });
  });

  it('faults/row-4: drips a byte at a time: one deadline covers the response', async () => {
    await watchFaults({ timeout: '1s' }, async (watch) => {
      const fault = ofSimulator(watch, { kind: 'drip', ms: 50 });
      expect(await playFault(watch, { ...fault, shows: down, atMost: whileOpen })).toEqual(['timeout']);
    });
  });

  it('faults/row-5: body cut short: never accepts half a response', async () => {
    await watchFaults({}, async (watch) => {
      const fault = ofSimulator(watch, { kind: 'cut' });
      expect(await playFault(watch, { ...fault, shows: down, atMost: whileOpen })).toEqual(['network']);
    });
  });

  it('faults/row-15: redirect to another host: sends nothing to that host', async () => {
    const other = await startFaultyUpstream('http://127.0.0.1:9');
    await watchFaults({}, async (watch) => {
      const kinds = await playFault(watch, {
        ...ofSimulator(watch, { kind: 'redirect', location: `${other.url}/api/47/system/info` }),
        shows: { ...down, automation_exporter_circuit_open: 0 },
        atMost: { first: 10, perSecond: 10 },
      });
      expect(kinds).toEqual(['redirect']);
      expect({ connections: other.maxOpen(), requests: other.requests }).toEqual({ connections: 0, requests: [] });
    });
    await other.die();
  });

  it.each([
    ['breaks', { kind: 'refuse', everyNth: 2 }, 'network'],
    ['is a 503', { kind: 'status', status: 503, everyNth: 2 }, 'server'],
  ] as const)(
    'faults/row-16: half of the answers fail (every second %s): every poll succeeds',
    async (_how, fault, kind) => {
      await watchFaults({}, async (watch) => {
        await watch.isWell();
        const before = await watch.scrape();
        const rounds = watch.healthyRounds();
        const requests = watch.upstream.requests.length;
        watch.simulator.control.addFault(fault);

        await watch.isWell();
        await soon(async () => expect(watch.healthyRounds()).toBeGreaterThanOrEqual(rounds + 4));
        await watch.isWell();
        const after = await watch.scrape();
        const errors = new RegExp(`^automation_exporter_api_errors_total\\{.*kind="${kind}"`);
        expect(sumOf(after, errors) - sumOf(before, errors)).toBeGreaterThanOrEqual(2);
        // The budget allows at most 10 requests a second.
        const most = 10 * (watch.healthyRounds() - rounds + 2);
        expect(watch.upstream.requests.length - requests).toBeLessThanOrEqual(most);

        watch.simulator.control.clearFaults();
        await watch.isWell();
      });
    },
  );

  it.skipIf(!hasOpenssl).each([
    ['expired', 'out of date'],
    ['alone', 'signed by nobody who is trusted'],
  ])(`faults/row-21: certificate faults (%s): refuses a certificate that is %s${withoutOpenssl}`, async (name) => {
    const faulty = `tls: { ca_file: '${join(certificates.folder, 'ca.pem')}' }`;
    await watchFaults({ certificate: pair('good'), faulty }, async (watch) => {
      const kinds = await playFault(watch, {
        begin: () => watch.upstream.present(pair(name)),
        end: () => watch.upstream.present(pair('good')),
        shows: down,
        atMost: whileOpen,
      });
      expect(kinds).toEqual(['tls']);
    });
  });

  it('faults/row-21: DNS faults: recovers when the name resolves', async () => {
    const names = watchName('automation.invalid');
    await watchFaults({ url: ({ url }) => url.replace('127.0.0.1', 'automation.invalid') }, async (watch) => {
      const kinds = await playFault(watch, {
        begin: () => {
          names.isKnown = false;
          watch.upstream.hangUp();
        },
        end: () => {
          names.isKnown = true;
        },
        shows: down,
        atMost: whileOpen,
      });
      expect(kinds).toEqual(['network']);
    });
  });
});

/** A local name that can stop resolving. */
function watchName(name: string): { isKnown: boolean } {
  const state = { isKnown: true };
  const lookUp = dns.lookup;
  type LookUp = (hostname: string, options: object, done: (...results: readonly unknown[]) => void) => void;
  const replaced: LookUp = (hostname, options, done) => {
    // These casts are safe: a socket calls the resolver with options and a callback.
    if (hostname !== name) (lookUp as unknown as LookUp)(hostname, options, done);
    else if (state.isKnown) setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }], 4);
    else setImmediate(done, Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }));
  };
  vi.spyOn(dns, 'lookup').mockImplementation(replaced as unknown as typeof dns.lookup);
  return state;
}

function pair(name: string): { readonly cert: string; readonly key: string } {
  return { cert: certificates.pem(`${name}.pem`), key: certificates.pem(`${name}.key`) };
}
