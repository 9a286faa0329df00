import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../support/process.ts';
import { describeWithTools } from '../support/tools.ts';

describeWithTools('systemd unit', ['systemd-analyze'], ({ 'systemd-analyze': analyze }) => {
  it('is intact, and restricts the service', async () => {
    const unit = readFileSync(
      join(import.meta.dirname, '../..', 'deploy', 'systemd', 'automation-exporter.service'),
      'utf8',
    );
    const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-unit-'));
    try {
      // The program and its manual are not installed where this test runs.
      const path = join(folder, 'automation-exporter.service');
      writeFileSync(
        path,
        unit.replace('/usr/bin/automation-exporter', '/bin/true').replace(/^Documentation=.*\n/m, ''),
      );
      expect(await runCommand(analyze, ['verify', path])).toBe('');
      const rated = await runCommand(analyze, ['security', '--offline=true', '--threshold=15', path]);
      expect(Number(/exposure level for \S+: ([\d.]+)/.exec(rated)?.[1])).toBeLessThanOrEqual(1.5);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
