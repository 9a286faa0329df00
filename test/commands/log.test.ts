import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createLog, type LogFormat } from '../../src/commands/log.ts';
import { scrub } from '../../src/domain/secret.ts';

const secret = 'canary "s3cret"/+é tok=en';

function write(format: LogFormat, fields: object): string {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format, secrets: () => [secret], write: (line) => lines.push(line) });
  log.warn({ ...fields }, 'poll failed');
  return lines.join('').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'NOW');
}

describe('log', () => {
  it('writes logfmt', () => {
    expect(
      write('logfmt', {
        collector: 'system-info',
        seconds: 1.5,
        error: new Error('no "answer"', { cause: new Error('reset') }),
      }),
    ).toBe('ts=NOW level=warn msg="poll failed" collector=system-info seconds=1.5 error="no \\"answer\\": reset"\n');
  });

  it('writes JSON', () => {
    expect(write('json', { collector: 'system-info' })).toBe(
      '{"level":"warn","ts":"NOW","collector":"system-info","msg":"poll failed"}\n',
    );
  });

  it.each(['logfmt', 'json'] as const)('escapes characters that control a terminal (%s)', (format) => {
    const hostile = ['\u001b[2J', '\u007f', '\u009b31m', '\u202e', '\u2066', '\u{e0041}', '\u2028'].join('x');
    const line = write(format, { name: hostile, alone: '\u001b', [hostile]: 1 });
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(line).toContain('\\u001b[2Jx\\u007fx\\u009b31mx\\u202ex\\u2066x\\udb40\\udc41x\\u2028');
  });

  it('omits lines below its level', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn', format: 'logfmt', secrets: () => [], write: (line) => lines.push(line) });
    log.debug({}, 'a');
    log.info({}, 'b');
    expect(lines).toEqual([]);
  });

  it.each(['logfmt', 'json'] as const)('removes a secret from %s in any form', (format) => {
    const base64 = (before: string) => Buffer.from(`${before}${secret}:x`).toString('base64');
    const line = write(format, {
      [secret]: 1,
      plain: `Bearer ${secret}!`,
      nested: { list: [{ deep: secret }] },
      url: `https://h/?authtoken=${encodeURIComponent(secret)}`,
      form: new URLSearchParams({ secret }).toString(),
      inspected: inspect({ secret }),
      json: JSON.stringify({ secret }),
      twice: JSON.stringify(JSON.stringify({ secret })),
      basic0: base64(''),
      basic1: base64('u'),
      basic2: base64('us'),
      url64: Buffer.from(secret).toString('base64url'),
      hex: Buffer.from(secret).toString('hex'),
      error: new Error(`refused ${secret}`, { cause: new Error(secret) }),
    });

    expect(line).not.toContain('s3cret');
    expect(line).not.toContain(Buffer.from('s3cret').toString('hex'));
    for (const shift of ['', 'u', 'us']) {
      const core = Buffer.from(`${shift}${secret}`).toString('base64').slice(4, 24);
      expect(line).not.toContain(core);
    }
    expect(line.match(/<secret>/g)?.length).toBeGreaterThanOrEqual(12);
  });

  it('changes no text without secrets', () => {
    expect(scrub('all is well', [secret, '', 'all'])).toBe('all is well');
    expect(scrub('all is well', ['well'])).toBe('all is <secret>');
  });
});
