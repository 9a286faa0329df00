import { describe, expect, it } from 'vitest';
import { describeNames, describeOpenness, listExposures, listFileExposures } from '../../src/daemon/exposure.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { WebTls } from '../../src/domain/web-config.ts';

type Given = Parameters<typeof listExposures>[0];

// These casts are safe: the tests read only these fields.
const base: Given = {
  url: 'https://prod',
  members: [],
  token: undefined,
  bearerToken: undefined,
  password: undefined,
  tls: { insecureSkipVerify: false } as Given['tls'],
};

function list(given: Partial<Given>, mode = 0o600): string[] {
  return listExposures({ ...base, ...given }, () => mode);
}

const token = new Secret('planted', { file: '/run/token' });
const member = { name: 'a', url: 'http://a.example.org:4440' };
const plain = 'credentials are sent to another machine without TLS: anyone in between can read them';

describe('daemon/exposure', () => {
  it.each([
    ['https://prod.example.org', []],
    ['http://prod.example.org', [plain]],
    ['http://10.0.0.7:4440', [plain]],
    ['http://127.0.0.1:4440', []],
    ['http://127.0.3.1:4440', []],
    ['http://[::1]:4440', []],
    ['http://localhost:4440', []],
    ['http://127.0.0.1.example.org', [plain]],
  ])('warns about data that other users can read with %s', (url, expected) => {
    expect(list({ url, token })).toEqual(expected);
  });

  it('warns about traffic to members too', () => {
    expect(list({ members: [member] })).toEqual([plain]);
  });

  it.each([
    [0o600, []],
    [0o640, []],
    [0o644, ['every user of this machine can read /run/token: set its mode to 0600']],
    [0o602, ['every user of this machine can read /run/token: set its mode to 0600']],
  ])('warns about who may read a token file with mode %o', (mode, expected) => {
    expect(list({ token }, mode)).toEqual(expected);
  });

  it.each([
    [0o40700, []],
    [0o40770, []],
    [
      0o40777,
      [
        'every user of this machine can change /etc/exporter.yaml: set its mode to 0644 or less',
        'every user of this machine can change /etc/web.yml: set its mode to 0640',
        'every user of this machine can replace the state in /var/lib/exporter: set its mode to 0700',
      ],
    ],
  ])('warns about who may change files of the exporter with mode %o', (mode, expected) => {
    const files = {
      configFile: '/etc/exporter.yaml',
      webConfigFile: '/etc/web.yml',
      stateDirectory: '/var/lib/exporter',
    };
    expect(listFileExposures(files, () => mode)).toEqual(expected);
    expect(
      listFileExposures({ configFile: undefined, webConfigFile: undefined, stateDirectory: undefined }, () => mode),
    ).toEqual([]);
    expect(listFileExposures(files, () => undefined)).toEqual([]);
  });

  const everyone =
    'everyone who reaches port 9720 of this machine can read metrics and pages, with the names of jobs and nodes, and the configuration without its secrets; --web.config.file adds TLS and users';
  const plainPasswords =
    'passwords of users cross the network without TLS: anyone in between can read them; add tls_server_config to the web configuration';

  it.each([
    { name: 'no web configuration', expected: everyone },
    { name: 'TLS by itself', tls: clients({}), expected: everyone },
    { name: 'a certificate that anyone can make', tls: clients({ isRequired: true }), expected: everyone },
    { name: 'certificates of known authorities', tls: clients({ isRequired: true, isVerified: true }) },
    { name: 'users', users: 1, expected: plainPasswords },
    { name: 'users with TLS', users: 1, tls: clients({}) },
    { name: 'users of this machine only', users: 1, host: '127.0.0.1' },
    {
      name: 'this machine only',
      host: '::1',
      expected: everyone.replace('everyone who reaches port 9720', 'every user'),
    },
    {
      name: 'a socket of systemd',
      host: '::1',
      systemdSocket: true,
      expected: everyone.replace('port 9720 of this machine', 'its systemd socket'),
    },
    { name: 'user names', userNames: true, expected: everyone.replace('jobs and nodes', 'jobs, nodes and users') },
    {
      name: 'actions',
      enableLifecycle: true,
      expected: everyone.replace('secrets;', 'secrets, and reload the configuration and drop quarantined traces;'),
    },
  ])(
    'describes who can read what with $name',
    ({ expected, users = 0, tls, host, systemdSocket = false, enableLifecycle = false, userNames = false }) => {
      const hash = { cost: 10, salt: new Uint8Array(16), digest: new Uint8Array(23) };
      const named = new Map(users === 0 ? [] : [['prometheus', hash]]);
      // This cast is safe: the tests read only these fields.
      const web = { listenAddress: { host, port: 9720 }, systemdSocket, enableLifecycle } as Parameters<
        typeof describeOpenness
      >[0]['web'];
      const webConfig = { tls, users: named, headers: new Map(), rateLimit: undefined };
      expect(describeOpenness({ web, webConfig, traces: { userNames } })).toBe(expected);
    },
  );

  it.each([
    {
      name: 'no address is configured',
      expected:
        'web.external_url is not set: browsers may open the pages by IP address or local name only, and links in alerts may lead nowhere; set it to the address of the pages',
    },
    { name: 'an address is configured', externalUrl: 'http://monitor01.corp.example:9720' },
    { name: 'nobody else can ask', host: 'localhost' },
  ])('lists the host names for browsers if $name', ({ expected, externalUrl, host }) => {
    // This cast is safe: the tests read only these fields.
    const web = { listenAddress: { host, port: 9720 }, externalUrl } as Parameters<typeof describeNames>[0];
    expect(describeNames(web)).toBe(expected);
  });

  it('ignores unreadable files and secrets from the environment', () => {
    expect(list({ token: new Secret('planted', { environment: 'TOKEN' }) }, 0o644)).toEqual([]);
    expect(listExposures({ ...base, token: new Secret('x', { file: '/nowhere/at/all' }) })).toEqual([]);
  });
});

/** This cast is safe: only these fields are read. */
function clients(asked: Partial<WebTls['clientAuth']>): WebTls {
  return { clientAuth: { isRequested: true, isRequired: false, isVerified: false, ...asked } } as WebTls;
}
