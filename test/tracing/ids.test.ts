import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { toNamespace, toSpanId, toTraceId, toTraceparent } from '../../src/tracing/plan/ids.ts';

const namespace = 'https://automation.example.org';

describe('tracing/ids', () => {
  it('computes the ids of the scheme', () => {
    expect(toTraceId(namespace, '4711')).toBe('f45e4a6a6cb0f6a2569d62819cbf45ac');
    expect(toSpanId(namespace, '4711', { kind: 'root' })).toBe('307b5cfc9224f771');
    expect(toSpanId(namespace, '4711', { kind: 'step', path: '2/1' })).toBe('1c752ab49d6c45c8');
    expect(toSpanId(namespace, '4711', { kind: 'node', path: '2/1', node: 'web01' })).toBe('c3f70e54fd5adcc7');
  });

  it('computes the same ids as the shell recipe', () => {
    const recipe = `printf '%s\\n' ax1 trace "$NS" "$ID" | sha256sum | cut -c1-32`;
    const printed = execFileSync('sh', ['-c', recipe], { env: { ...process.env, NS: namespace, ID: '4711' } });
    expect(printed.toString().trim()).toBe(toTraceId(namespace, '4711'));
  });

  it.each([
    ['HTTPS://Auto.Example.org:443/x/', 'https://auto.example.org/x'],
    ['http://h:80', 'http://h'],
    ['http://h:4440/', 'http://h:4440'],
    ['https://user:secret@h/a//?q=1#f', 'https://h/a'],
    ['http://[::1]:80/', 'http://[::1]'],
  ])('converts %s to the namespace %s', (url, expected) => {
    expect(toNamespace(url)).toBe(expected);
  });

  it('writes the trace context header', () => {
    expect(toTraceparent('f45e4a6a6cb0f6a2569d62819cbf45ac', '307b5cfc9224f771')).toBe(
      '00-f45e4a6a6cb0f6a2569d62819cbf45ac-307b5cfc9224f771-01',
    );
  });
});
