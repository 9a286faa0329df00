import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { listExposures, listFileExposures } from '../../src/daemon/exposure.ts';

type Given = Parameters<typeof listExposures>[0];

// The casts are true: nothing else of these is read.
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
  ])('says of %s what others can read', (url, expected) => {
    expect(list({ url, token })).toEqual(expected);
  });

  it('says it of members too', () => {
    expect(list({ members: [member] })).toEqual([plain]);
  });

  it.each([
    [0o600, []],
    [0o640, []],
    [0o644, ['every user of this machine can read /run/token: set its mode to 0600']],
    [0o602, ['every user of this machine can read /run/token: set its mode to 0600']],
  ])('says of a token file with mode %o who may read it', (mode, expected) => {
    expect(list({ token }, mode)).toEqual(expected);
  });

  it.each([
    [0o40700, []],
    [0o40770, []],
    [
      0o40777,
      [
        'every user of this machine can change /etc/exporter.yaml: set its mode to 0644 or less',
        'every user of this machine can replace the state in /var/lib/exporter: set its mode to 0700',
      ],
    ],
  ])('says of files of ours with mode %o who may change them', (mode, expected) => {
    const files = { configFile: '/etc/exporter.yaml', stateDirectory: '/var/lib/exporter' };
    expect(listFileExposures(files, () => mode)).toEqual(expected);
    expect(listFileExposures({ configFile: undefined, stateDirectory: undefined }, () => mode)).toEqual([]);
    expect(listFileExposures(files, () => undefined)).toEqual([]);
  });

  it('says nothing of files that a secret of the environment does not have, or that cannot be read', () => {
    expect(list({ token: new Secret('planted', { environment: 'TOKEN' }) }, 0o644)).toEqual([]);
    expect(listExposures({ ...base, token: new Secret('x', { file: '/nowhere/at/all' }) })).toEqual([]);
  });
});
