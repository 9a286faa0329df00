import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { buildDebianPackage } from '../scripts/build/debian.ts';
import { makeSharedFolder } from './support/folder.ts';
import { runCommand } from './support/process.ts';
import { describeWithTools } from './support/tools.ts';

const directory = makeSharedFolder();

describeWithTools('archive of the debian package', ['lintian'], ({ lintian }) => {
  it('passes lintian', async () => {
    // A small program replaces Node, whose 120 MB would take minutes to pack.
    const small = await buildDebianPackage(join(directory, 'small'), { node: '/bin/true' });
    const flags = ['--allow-root', '--fail-on', 'error,warning'];
    expect(await runCommand(lintian, [...flags, small])).toBe('');
  }, 120_000);

  it('has the same bytes if the same sources are built again on another day', async () => {
    const build = async (folder: string) => {
      const made = await buildDebianPackage(join(directory, folder), { node: '/bin/true', compression: 'none' });
      return createHash('sha256').update(readFileSync(made)).digest('hex');
    };
    const first = await build('first');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2030-01-01T00:00:00Z') });
    onTestFinished(() => void vi.useRealTimers());
    expect(await build('second')).toBe(first);
  }, 120_000);
});
