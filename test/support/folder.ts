import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder, which is removed once the test has ended. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
