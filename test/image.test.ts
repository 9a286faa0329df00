import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../simulator/simulator.ts';
import { eventually } from './support/eventually.ts';
import { type ImageStore, openImageStore } from './support/image-store.ts';
import { describeWithTools } from './support/tools.ts';

const top = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { version: string };
const isRoot = process.getuid?.() === 0;

describeWithTools('image', ['buildah'], ({ buildah }) => {
  describe.skipIf(!isRoot)('built as root', () => {
    let store: ImageStore;

    beforeAll(async () => {
      store = await openImageStore(buildah);
      await store.build(top, 'automation-exporter');
    }, 600_000);

    afterAll(async () => {
      await store.close();
    }, 60_000);

    /** Runs a script in the image with Node, which is the only program there. */
    const evaluate = (script: string, env = {}): Promise<string> =>
      store.run('automation-exporter', ['node', '--input-type=module', '-e', script], env);

    it('prints its version', async () => {
      expect(await store.run('automation-exporter', ['node', 'cli.js', '--version'])).toContain(version);
    });

    it('declares how to run it, and its origin', async () => {
      expect(await store.inspect('automation-exporter')).toMatchObject({
        User: '65532:65532',
        WorkingDir: '/app',
        Entrypoint: ['node', '--disable-sigusr1', 'cli.js'],
        Cmd: ['serve'],
        ExposedPorts: { '9720/tcp': {} },
        Volumes: { '/var/lib/automation-exporter': {} },
        Healthcheck: { Test: ['CMD', 'node', 'healthcheck.js'] },
        Labels: {
          'org.opencontainers.image.version': version,
          'org.opencontainers.image.revision': 'unknown',
          'org.opencontainers.image.created': 'unknown',
          'org.opencontainers.image.source': 'unknown',
          'org.opencontainers.image.licenses': 'Apache-2.0',
        },
      });
    });

    it('has Node and the exporter in less than 150 MB, and no shell', async () => {
      const script = `
        import { globSync, lstatSync } from 'node:fs';
        const files = globSync('/{app,cache,etc,lib,lib64,tmp,usr,var,bin,sbin}/**').filter((path) => lstatSync(path).isFile());
        const programs = files.filter((path) => (lstatSync(path).mode & 0o111) !== 0 && !/\\.so[.\\d]*$/.test(path));
        console.log(programs.join(' '));
        console.log(files.reduce((sum, path) => sum + lstatSync(path).size, 0));
      `;
      const [programs, bytes] = (await evaluate(script)).split('\n');
      expect(programs?.split(' ').sort()).toEqual(['/app/cli.js', '/usr/local/bin/node']);
      expect(Number(bytes)).toBeLessThan(150e6);
      await expect(store.run('automation-exporter', ['sh', '-c', 'true'])).rejects.toThrow(/sh/);
    });

    it('has the licences of all its packages', async () => {
      const script = `
        import { statSync } from 'node:fs';
        const documents = ['libc6', 'libgcc-s1', 'libstdc++6'].map((name) => '/usr/share/doc/' + name + '/copyright');
        for (const path of [...documents, '/usr/share/doc/nodejs/LICENSE', '/app/LICENSE', '/app/THIRD-PARTY-LICENSES'])
          console.log(path, statSync(path).size > 1000);
      `;
      expect(await evaluate(script)).toBe(`/usr/share/doc/libc6/copyright true
/usr/share/doc/libgcc-s1/copyright true
/usr/share/doc/libstdc++6/copyright true
/usr/share/doc/nodejs/LICENSE true
/app/LICENSE true
/app/THIRD-PARTY-LICENSES true`);
    });

    it('writes only to its state directory', async () => {
      const script = `
        import { accessSync, constants, globSync } from 'node:fs';
        const writable = globSync('/{,app/**,cache/**,etc/**,usr/**,var/**,lib/**,tmp}').filter((path) => {
          try { accessSync(path, constants.W_OK); return true; } catch { return false; }
        });
        console.log(process.getuid(), writable.join(' '));
      `;
      // Different machines may differ only in what a container engine mounts in /etc.
      expect((await evaluate(script)).split(' ').sort()).toEqual(['/tmp', '/var/lib/automation-exporter', '65532']);
    });

    it('starts from code compiled at build time, in a folder that it may not write', async () => {
      const daemon = await store.start('automation-exporter', ['node', 'cli.js', '--version'], {
        NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
      });
      await daemon.ended;
      const ofChunks = daemon
        .output()
        .split('\n')
        .filter((line) => line.includes('/app/chunks/command-line'));
      expect(ofChunks.join('\n')).toMatch(/was accepted/);
      expect(daemon.output()).not.toMatch(/was rejected/);
    });

    it('starts, is healthy, shows a server, and serves its files', async () => {
      const simulator = await startSimulator({ scenario: 'quiet-day' });
      const environment = { AUTOMATION_EXPORTER_URL: simulator.url, AUTOMATION_EXPORTER_TOKEN: simulator.token };
      const command = ['node', 'cli.js', 'serve', '--web.listen-address=127.0.0.1:0'];
      const daemon = await store.start('automation-exporter', command, environment);
      onTestFinished(() => simulator.stop());
      onTestFinished(() => daemon.stop());
      const [, url = ''] = await daemon.waitFor(/url=(http:[^\s"]+)/);
      const pages = ['-/healthy', 'alerts/rules.yaml', 'dashboards/overview.json'];
      const answers = await Promise.all(pages.map(async (page) => (await fetch(new URL(page, url))).status));
      expect(answers).toEqual([200, 200, 200]);
      await eventually(async () => expect(await scrape(url)).toMatch(/^automation_up\{server="[^"]+"\} 1$/m));
      await expect(checkHealth(store, new URL('-/healthy', url))).resolves.toBe('');
      await expect(checkHealth(store, new URL('http://127.0.0.1:9/-/healthy'))).rejects.toThrow('exit status 1');
    });
  });
});

async function scrape(url: string): Promise<string> {
  return (await fetch(new URL('metrics', url))).text();
}

/** Runs the health check as an engine does; fails if the check fails. */
async function checkHealth(store: ImageStore, url: URL): Promise<string> {
  const { Healthcheck } = (await store.inspect('automation-exporter')) as { Healthcheck: { Test: string[] } };
  return store.run('automation-exporter', Healthcheck.Test.slice(1), { HEALTH_URL: url.href });
}
