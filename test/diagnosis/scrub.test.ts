import { describe, expect, it } from 'vitest';
import { createScrub } from '../../src/diagnosis/lines/scrub.ts';
import { innocent, secretForms } from './corpus.ts';

const scrub = createScrub();

describe('diagnosis/lines/scrub', () => {
  it.each(secretForms)('removes $form', ({ write, make }) => {
    const secret = make(7);
    const { texts, removed } = scrub([write(secret)].flatMap((text) => text.split('\n')));
    for (const part of secret.split('\n')) expect(texts.join('\n')).not.toContain(part);
    expect(removed).toBeGreaterThan(0);
  });

  it.each(innocent)('leaves a text unchanged: %s', (line) => {
    expect(scrub([line])).toEqual({ texts: [line], removed: 0 });
  });

  it('removes a private key over many lines, and no line after the key', () => {
    const key = [
      'x -----BEGIN OPENSSH PRIVATE KEY-----',
      'b3BlbnNzaC1r',
      'ZXktdjEAAAA=',
      '-----END OPENSSH PRIVATE KEY-----',
    ];
    expect(scrub(['before', ...key, 'after'])).toEqual({
      texts: ['before', ...key.map(() => '[removed]'), 'after'],
      removed: 4,
    });
  });

  it('removes the end of a private key whose start is missing', () => {
    const rest = ['DEK-Info: AES-128-CBC,7F', 'Zg==', '-----END OPENSSH PRIVATE KEY-----'];
    expect(scrub([...rest, 'after']).texts).toEqual(['[removed]', '[removed]', '[removed]', 'after']);
    expect(scrub(['cp: no space left', '-----END OPENSSH PRIVATE KEY-----']).texts[0]).toBe('cp: no space left');
  });

  it('removes lines that match the patterns of the site', () => {
    const { texts } = createScrub((text) => text.includes('ACME'))(['order ACME-77', 'order 78']);
    expect(texts).toEqual(['[removed]', 'order 78']);
  });

  it.each([
    'password',
    'PWD',
    'a-',
    '"',
    'eyJ.',
    'mysql -p ',
    'rar -p ',
    '://',
    '<secret ',
    'curl -u a:',
    "password=b'\\'",
    'name="token" ',
    'password: |\n',
    'password for user ',
    'snmpget -c ',
    'net use \\\\a ',
    'vault kv put a b=',
    'htpasswd -b a ',
    'echo a ',
    ']a-fd',
  ])('needs little time for a line of %j', (piece) => {
    const toLeastMs = (repeated: string): number => {
      const line = `token ${repeated.repeat(16_000)}`.slice(0, 16_000);
      const toCpuMs = (): number => {
        const before = process.threadCpuUsage();
        for (let times = 0; times < 6; times += 1) scrub([line]);
        return process.threadCpuUsage(before).user / 1000;
      };
      return Math.min(toCpuMs(), toCpuMs(), toCpuMs());
    };
    expect(toLeastMs(piece)).toBeLessThan(40 * Math.max(1, toLeastMs('copied 3 files to web01; ')));
  });
});
