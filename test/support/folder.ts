import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Makes an empty folder, which is removed once the test has ended. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes an empty folder for the tests of a file or a `describe`, and removes it at their end. */
export function makeSharedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
