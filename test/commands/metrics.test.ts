import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runHere } from './run-cli.ts';

describe('commands/metrics', () => {
  it('prints the reference of metrics', async () => {
    const reference = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');

    expect(await runHere(['metrics'])).toEqual({ code: 0, stdout: reference, stderr: '', left: [] });
  });
});
