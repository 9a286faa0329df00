import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allocatorSettings, nodeFlags } from '../../src/commands/process-settings.ts';

describe('commands/process-settings', () => {
  it('holds for `npm start` too, which runs the sources', () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { scripts } = JSON.parse(text) as { readonly scripts: Readonly<Record<string, string>> };
    const settings = Object.entries(allocatorSettings).map(([name, value]) => `${name}=${value}`);
    expect(scripts['start']).toBe(`${settings.join(' ')} exec node ${nodeFlags.join(' ')} src/cli.ts`);
  });
});
