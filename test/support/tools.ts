import { connect } from 'node:net';
import { describe } from 'vitest';
import { findTool, type ToolName } from '../../scripts/tools.ts';

const port = process.env['TOOLS_INSTALLED_AT'];
// The test command installs tools while tests run; this connection is open until the installation ends.
if (port !== undefined) await waitForEnd(Number(port));

/** A `describe` with the paths of its tools. If a tool is not installed, its tests are skipped with a title that names it. */
export function describeWithTools<Name extends ToolName>(
  title: string,
  names: readonly Name[],
  body: (paths: Readonly<Record<Name, string>>) => void,
): void {
  const missing = names.filter((name) => findTool(name) === undefined);
  const reason = missing.length > 0 ? ` (not installed: ${missing.join(', ')})` : '';
  // The body runs even if its tests are skipped, to list them; the name of a tool then replaces its path.
  const paths = names.map((name) => [name, findTool(name) ?? name]);
  describe.skipIf(missing.length > 0)(`${title}${reason}`, () => {
    // This cast is safe: the keys are exactly the requested names.
    body(Object.fromEntries(paths) as Record<Name, string>);
  });
}

/** Waits for the end of the installation; a refused connection also means that it has ended. */
function waitForEnd(at: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(at, '127.0.0.1');
    socket.on('error', () => {});
    socket.once('close', () => {
      resolve();
    });
    socket.resume();
  });
}
