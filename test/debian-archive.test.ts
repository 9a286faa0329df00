import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { buildDebianPackage } from '../scripts/build/debian.ts';
import { runCommand } from './support/process.ts';
import { describeWithTools } from './support/tools.ts';

let directory: string;

describeWithTools('archive of the debian package', ['lintian'], ({ lintian }) => {
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'automation-exporter-archive-'));
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('passes lintian', async () => {
    // A small program in the place of Node, whose 120 MB would take minutes.
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
