import { format, inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readSecretFile, Secret, SecretError, toEnvironmentSecret } from '../../src/domain/secret.ts';

const canary = 'canary-4711';
const secret = new Secret(canary, { file: '/run/token' });

// Compiler and linter would refuse this code.
const asText = secret as unknown as string;
const asObject: object = secret;

const attempts: readonly [string, () => string, string][] = [
  ['String()', () => String(secret), '<secret>'],
  ['toString', () => secret.toString(), '<secret>'],
  ['a template', () => `token ${asText}`, 'token <secret>'],
  ['concatenation', () => 'token '.concat(asText), 'token <secret>'],
  ['JSON.stringify', () => JSON.stringify(secret), '"<secret>"'],
  [
    'JSON.stringify of an owner',
    () => JSON.stringify({ server: { token: secret } }),
    '{"server":{"token":"<secret>"}}',
  ],
  ['inspect', () => inspect(secret), '<secret>'],
  [
    'inspect of an owner',
    () => inspect({ a: { b: { token: secret } } }, { depth: 9, showHidden: true }),
    '{ a: { b: { token: <secret> } } }',
  ],
  ['inspect of a list', () => inspect([secret], { showHidden: true }), '[ <secret>, [length]: 1 ]'],
  [
    'inspect without the own method of the class',
    () => inspect(secret, { customInspect: false, showHidden: true }),
    'Secret { [source]: [Getter] }',
  ],
  ['%s', () => format('%s', secret), '<secret>'],
  ['%o', () => format('%o', secret), '<secret>'],
  ['%O', () => format('%O', secret), '<secret>'],
  ['%j', () => format('%j', secret), '"<secret>"'],
  ['%d', () => format('%d', secret), 'NaN'],
  ['a console', () => format(secret, { secret }), '<secret> { secret: <secret> }'],
  ['spreading', () => JSON.stringify({ ...asObject }), '{}'],
  ['entries', () => JSON.stringify(Object.entries(secret)), '[]'],
  ['own names', () => JSON.stringify(Reflect.ownKeys(secret)), '[]'],
  ['Object.assign', () => JSON.stringify(Object.assign({}, secret)), '{}'],
  ['structuredClone', () => inspect(structuredClone(secret), { showHidden: true }), '{}'],
  [
    'the cause of an error',
    () => /cause.*/.exec(inspect(new Error('refused', { cause: secret })))?.[0] ?? '',
    'cause]: <secret>',
  ],
  ['a sum', () => String(Number(secret)), 'NaN'],
];

describe('config/secret', () => {
  it.each(attempts)('shows nothing to %s', (_, attempt, expected) => {
    expect(attempt()).toBe(expected);
    expect(attempt()).not.toContain(canary);
  });

  it('reveals its value and its source on request', () => {
    expect(secret.reveal()).toBe(canary);
    expect(secret.source).toEqual({ file: '/run/token' });
  });

  it.each([
    ['k3y\n', 'k3y'],
    ['k3y\r\n', 'k3y'],
    ['k3y\n\n', 'k3y'],
    ['k3y', 'k3y'],
    ['with space', 'with space'],
  ])('reads %j from a file', async (text, value) => {
    const read = await readSecretFile('/run/token', async () => text);
    expect(read.reveal()).toBe(value);
  });

  it.each([
    ['', 'the file "/run/token" is empty'],
    [' \n', 'the file "/run/token" is empty'],
    [`${canary}\nsecond`, 'the file "/run/token" contains more than one line'],
    [`${canary}\u0000`, 'the file "/run/token" contains a character that is not allowed in a header'],
    [`${canary}\t`, 'the file "/run/token" contains a character that is not allowed in a header'],
    [`${canary}é`, 'the file "/run/token" contains a character that is not allowed in a header'],
    [` ${canary}`, 'the file "/run/token" begins or ends with a space'],
    ['x'.repeat(8193), 'the file "/run/token" contains more than 8192 characters'],
  ])('refuses the text %j', async (text, message) => {
    await expect(readSecretFile('/run/token', async () => text)).rejects.toThrow(new SecretError(message));
  });

  it.each([['pässword'], [' with spaces '], ['🔑'], ['=?&%']])(
    'accepts %j as a password, although no header can hold it',
    async (text) => {
      const read = await readSecretFile('/run/password', async () => `${text}\n`, 'form');
      expect(read.reveal()).toBe(text);
      expect((await read.reread()).reveal()).toBe(text);
      expect(toEnvironmentSecret(text, 'AUTOMATION_EXPORTER_PASSWORD', 'form').reveal()).toBe(text);
    },
  );

  it.each([
    [`${canary}\u0000`, 'the file "/run/password" contains a control character'],
    [`${canary}\t`, 'the file "/run/password" contains a control character'],
    [`${canary}\nsecond`, 'the file "/run/password" contains more than one line'],
    ['', 'the file "/run/password" is empty'],
  ])('refuses the password %j', async (text, message) => {
    await expect(readSecretFile('/run/password', async () => text, 'form')).rejects.toThrow(new SecretError(message));
  });

  it('does not repeat a path that may be a misplaced secret', async () => {
    const readFile = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' }));
    const message = `the file, relative to "${process.cwd()}", does not exist`;
    await expect(readSecretFile(canary, readFile)).rejects.toThrow(new SecretError(message));
  });

  it('names the file to which a relative path leads', async () => {
    const readFile = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' }));
    const message = `the file "${process.cwd()}/secrets/token" does not exist`;
    await expect(readSecretFile('./secrets/token', readFile)).rejects.toThrow(new SecretError(message));
  });

  it('reads a rotated file again each time', async () => {
    const texts = ['first\n', 'second\n', 'third\n'];
    const first = await readSecretFile('/run/token', async () => texts.shift() ?? '');
    const second = await first.reread();
    const third = await second.reread();
    expect([first.reveal(), second.reveal(), third.reveal()]).toEqual(['first', 'second', 'third']);
    await expect(third.reread()).rejects.toThrow(new SecretError('the file "/run/token" is empty'));
  });

  it('does not change a secret from the environment', async () => {
    const read = toEnvironmentSecret('k3y', 'AUTOMATION_EXPORTER_TOKEN');
    expect((await read.reread()).reveal()).toBe('k3y');
    expect(read.source).toEqual({ environment: 'AUTOMATION_EXPORTER_TOKEN' });
  });
});
