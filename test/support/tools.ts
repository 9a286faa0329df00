import { connect } from 'node:net';
import { describe } from 'vitest';
import { findTool, type ToolName } from '../../scripts/tools.ts';

const port = process.env['TOOLS_INSTALLED_AT'];
// The test command installs tools while tests run. A connection to this port stays open until the installation has ended.
if (port !== undefined) await waitForEnd(Number(port));

/** A `describe` with the paths of its tools. The tests of a missing tool are skipped, with a title that names the tool. */
export function describeWithTools<Name extends ToolName>(
  title: string,
  names: readonly Name[],
  body: (paths: Readonly<Record<Name, string>>) => void,
): void {
  const missing = names.filter((name) => findTool(name) === undefined);
  const reason = missing.length > 0 ? ` (not installed: ${missing.join(', ')})` : '';
  // To list skipped tests, the body runs with names of tools instead of paths.
  const paths = names.map((name) => [name, findTool(name) ?? name]);
  describe.skipIf(missing.length > 0)(`${title}${reason}`, () => {
    // This cast is safe: the keys are the requested names.
    body(Object.fromEntries(paths) as Record<Name, string>);
  });
}

/** Waits for the end of the installation; a refused connection means the end. */
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
