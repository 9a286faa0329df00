import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildPackage } from '../scripts/build/package.ts';
import { startSimulator } from '../src/simulator/simulator.ts';
import { eventually } from './support/eventually.ts';
import { baseName } from './support/image-base.ts';
import { openImageStore } from './support/image-store.ts';
import { runCommand } from './support/process.ts';
import { describeWithTools } from './support/tools.ts';

describeWithTools('npm archive', ['buildah'], ({ buildah }) => {
  describe.skipIf(process.getuid?.() !== 0)('in a root that holds Node and npm alone', () => {
    it('installs without a registry, and shows a server', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-npm-archive-'));
      const store = await openImageStore(buildah);
      const simulator = await startSimulator({ scenario: 'quiet-day' });
      try {
        const image = join(directory, 'image');
        mkdirSync(image);
        const built = join(directory, 'package');
        await buildPackage(built);
        await runCommand('npm', ['pack', '--pack-destination', image], { cwd: built });
        writeFileSync(join(image, 'Dockerfile'), dockerfile);
        await store.build(image, 'npm-archive');

        const daemon = await store.start('npm-archive', ['automation-exporter', 'serve', ...flags], {
          AUTOMATION_EXPORTER_URL: simulator.url,
          AUTOMATION_EXPORTER_TOKEN: simulator.token,
        });
        try {
          const [, url = ''] = await daemon.waitFor(/url=(http:[^\s"]+)/, 60_000);
          const scrape = async () => (await fetch(new URL('metrics', url))).text();
          await eventually(async () => expect(await scrape()).toMatch(/^automation_up\{server="[^"]+"\} 1$/m));
        } finally {
          await daemon.stop();
        }
      } finally {
        await store.close();
        await simulator.stop();
        rmSync(directory, { recursive: true, force: true });
      }
    }, 600_000);
  });
});

const flags = ['--state.memory', '--web.listen-address=127.0.0.1:0'];

/** Without the Node that comes along as an optional package: the root has its own. */
const dockerfile = `FROM ${baseName}
COPY *.tgz /archive/
RUN npm install --global --offline --omit=optional /archive/*.tgz
`;
