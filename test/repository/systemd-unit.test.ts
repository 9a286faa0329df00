import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { runCommand } from '../support/process.ts';
import { describeWithTools } from '../support/tools.ts';

describeWithTools('systemd unit', ['systemd-analyze'], ({ 'systemd-analyze': analyze }) => {
  it('restricts the service', async () => {
    const unit = readFileSync(
      join(import.meta.dirname, '../..', 'deploy', 'systemd', 'automation-exporter.service'),
      'utf8',
    );
    const folder = makeFolder();
    // The machine of the test has neither the program nor its manual.
    const path = join(folder, 'automation-exporter.service');
    writeFileSync(path, unit.replace('/usr/bin/automation-exporter', '/bin/true').replace(/^Documentation=.*\n/m, ''));
    expect(await runCommand(analyze, ['verify', path])).toBe('');
    const rated = await runCommand(analyze, ['security', '--offline=true', '--threshold=15', path]);
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(rated)?.[1])).toBeLessThanOrEqual(1.5);
  });
});
