import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderStart } from '../../scripts/build/debian.ts';
import { allocatorSettings, nodeFlags } from '../../src/commands/start.ts';

describe('commands/process-settings', () => {
  it('applies the settings to `npm start`', () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { scripts } = JSON.parse(text) as { readonly scripts: Readonly<Record<string, string>> };
    const settings = Object.entries(allocatorSettings).map(([name, value]) => `${name}=${value}`);
    expect(scripts['start']).toBe(`${settings.join(' ')} exec node ${nodeFlags.join(' ')} src/cli.ts`);
  });

  it('applies the settings to the Debian package', () => {
    expect(renderStart()).toBe(`#!/bin/sh
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX-1}" MALLOC_MMAP_THRESHOLD_="\${MALLOC_MMAP_THRESHOLD_-131072}" MALLOC_TRIM_THRESHOLD_="\${MALLOC_TRIM_THRESHOLD_-131072}"
exec /usr/lib/automation-exporter/node --disable-sigusr1 --max-semi-space-size=1 --optimize-for-size /usr/lib/automation-exporter/cli.js "$@"
`);
  });
});
