import { closeSync, globSync, lstatSync, openSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildDebianPackage } from '../scripts/build/debian.ts';
import { findArchitecture } from '../scripts/build/node.ts';
import { type Simulator, startSimulator } from '../simulator/simulator.ts';
import { allocatorSettings, nodeFlags } from '../src/commands/start.ts';
import { startChild } from './support/child.ts';
import { eventually } from './support/eventually.ts';
import { makeSharedFolder } from './support/folder.ts';
import { openImageStore } from './support/image-store.ts';
import { runCommand } from './support/process.ts';
import { describeWithTools } from './support/tools.ts';

// An emulated Node needs seconds to start, and much longer on a busy machine.
const limitMs = 600_000;
const startMs = 180_000;
const directory = makeSharedFolder();
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ scenario: 'quiet-day' });
});

afterAll(async () => {
  await simulator.stop();
});

describeWithTools('packages for arm64, assembled on any machine', ['qemu-aarch64', 'lintian', 'buildah'], (tools) => {
  it(
    'watches a server when installed from the Debian package',
    async () => {
      const file = await buildDebianPackage(directory, {
        compression: 'none',
        architecture: findArchitecture('arm64'),
      });
      expect(basename(file)).toMatch(/^automation-exporter_[\d.]+_arm64\.deb$/);
      expect(await runCommand('dpkg-deb', ['--field', file, 'Architecture'])).toBe('arm64');
      const root = join(directory, 'root');
      await runCommand('dpkg-deb', ['--extract', file, root]);
      const home = join(root, 'usr/lib/automation-exporter');
      expect(listPrograms(root)).toEqual({ 'usr/lib/automation-exporter/node': arm64 });
      // The libraries of the image are those of Debian.
      await showServer([tools['qemu-aarch64'], '-L', '/usr/aarch64-linux-gnu', join(home, 'node')], home);
    },
    limitMs,
  );

  describe.skipIf(process.getuid?.() !== 0)('as root', () => {
    it(
      'shows a server, from the image, with its own libraries',
      async () => {
        const store = await openImageStore(tools.buildah);
        onTestFinished(() => store.close());
        await store.build(join(import.meta.dirname, '..'), 'automation-exporter', 'arm64');
        const root = await store.mount('automation-exporter');
        const programs = listPrograms(root);
        expect(programs).toMatchObject({ 'usr/local/bin/node': arm64, 'lib/ld-linux-aarch64.so.1': arm64 });
        expect(new Set(Object.values(programs))).toEqual(new Set([arm64]));
        // The code was compiled for this architecture, and for the user that the image names.
        expect(globSync('cache/*', { cwd: root })).toEqual([expect.stringMatching(/^cache\/v24\S*-arm64-\S+-65532$/)]);
        expect(globSync('cache/*/*', { cwd: root }).length).toBeGreaterThan(20);
        const node = join(root, 'usr/local/bin/node');
        await showServer([tools['qemu-aarch64'], '-L', root, node], join(root, 'app'));
      },
      limitMs,
    );
  });
});

/** Starts the exporter in a folder by this command, and waits until it shows the simulated server. */
async function showServer([command = '', ...before]: readonly string[], folder: string): Promise<void> {
  const flags = ['serve', '--state.memory', '--web.listen-address=127.0.0.1:0'];
  const daemon = startChild(command, [...before, ...nodeFlags, join(folder, 'cli.js'), ...flags], {
    cwd: directory,
    env: {
      HOME: directory,
      ...allocatorSettings,
      AUTOMATION_EXPORTER_URL: simulator.url,
      AUTOMATION_EXPORTER_TOKEN: simulator.token,
    },
  });
  try {
    const [, url = ''] = await daemon.waitFor(/msg=serving url=(\S+)/, startMs);
    await eventually(
      async () => {
        const text = await (await fetch(`${url}/metrics`)).text();
        expect(text).toMatch(/^automation_up\{server="[^"]+"\} 1$/m);
      },
      { limitMs: startMs, everyMs: 500 },
    );
  } finally {
    await daemon.stop();
  }
}

/** The architecture in the header of a program (`EM_AARCH64`). */
const arm64 = 183;

/** Every file that is a program or a library, with its architecture. */
function listPrograms(root: string): Readonly<Record<string, number>> {
  const files = globSync('**', { cwd: root }).filter((path) => lstatSync(join(root, path)).isFile());
  return Object.fromEntries(
    files.flatMap((path) => {
      const header = readHeader(join(root, path));
      return header.toString('latin1', 0, 4) === '\x7fELF' ? [[path, header.readUInt16LE(18)]] : [];
    }),
  );
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(20);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header);
  } finally {
    closeSync(descriptor);
  }
  return header;
}
