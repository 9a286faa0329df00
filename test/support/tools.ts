import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import { findTool, type ToolName } from '../../scripts/tools.ts';

const installer = process.env['TOOLS_INSTALLED_BY'];
// The test command installs tools beside the tests that need none.
if (installer !== undefined) await waitForEnd(installer);

/**
 * A `describe` that hands over the paths of the tools it needs. Where one is not installed, its tests are skipped
 * under a title that says which.
 */
export function describeWithTools<Name extends ToolName>(
  title: string,
  names: readonly Name[],
  body: (paths: Readonly<Record<Name, string>>) => void,
): void {
  const missing = names.filter((name) => findTool(name) === undefined);
  const reason = missing.length > 0 ? ` (not installed: ${missing.join(', ')})` : '';
  // A skipped body still runs, to list its tests: a bare name stands in for the path.
  const paths = names.map((name) => [name, findTool(name) ?? name]);
  describe.skipIf(missing.length > 0)(`${title}${reason}`, () => {
    // The keys are exactly the names asked for.
    body(Object.fromEntries(paths) as Record<Name, string>);
  });
}

async function waitForEnd(pid: string): Promise<void> {
  while (readCommandLine(pid).includes('install-tools.ts')) await sleep(200);
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
