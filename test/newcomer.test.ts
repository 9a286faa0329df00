import { randomUUID } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../simulator/simulator.ts';
import { strangerPolicy } from '../simulator/world/access.ts';
import { type Child, startCli } from './support/child.ts';
import { eventually } from './support/eventually.ts';
import { makeSharedFolder } from './support/folder.ts';
import { type ImageStore, openImageStore } from './support/image-store.ts';
import { addCheckout, installArchive, installDebianPackage, installImage } from './support/installations.ts';
import { describeWithTools } from './support/tools.ts';

const limitMs = 600_000;
const dataMs = 240_000;

describeWithTools('a newcomer', ['buildah', 'lintian'], ({ buildah }) => {
  describe.skipIf(process.getuid?.() !== 0)('who is root', () => {
    const directory = makeSharedFolder();
    let store: ImageStore;
    let simulator: Simulator;

    beforeAll(async () => {
      mkdirSync(join(directory, 'etc'));
      const volumes = [`${join(directory, 'etc')}:/etc/automation-exporter:ro`];
      store = await openImageStore(buildah, { volumes, withRegistry: true });
      simulator = await startSimulator({ scenario: 'quiet-day' });
    }, limitMs);

    afterAll(async () => {
      await simulator.stop();
      await store.close();
    }, limitMs);

    /** Makes a token with this policy, and writes the token and a configuration to files that this user can read. */
    function prepare(policy: string, user: string): void {
      const token = `token-${randomUUID()}`;
      simulator.control.addToken({ token, policy: strangerPolicy });
      simulator.control.addAccessRules(token, policy);
      const [uid, gid] = user.split(':').map(Number);
      const write = (name: string, text: string, mode: number): void => {
        const path = join(directory, 'etc', name);
        rmSync(path, { force: true });
        writeFileSync(path, text, { mode });
        chownSync(path, uid ?? 0, gid ?? 0);
      };
      write('token', `${token}\n`, 0o400);
      const server = `{ name: prod, url: '${simulator.url}', token_file: /etc/automation-exporter/token }`;
      write('config.yaml', `servers: [${server}]\n`, 0o444);
    }

    /** Waits until a daemon shows data that only a token with the right policy can read; then ends the daemon. */
    async function seeServer(daemon: Child): Promise<void> {
      try {
        const [, url = ''] = await daemon.waitFor(/msg=serving url=(http:[^\s"]+)/, dataMs);
        await eventually(
          async () => {
            const text = await (await fetch(new URL('metrics', url))).text();
            expect(text).toMatch(/^automation_up\{server="[^"]+"\} 1$/m);
            expect(text).toMatch(/^automation_job_info\{/m);
          },
          { limitMs: dataMs },
        );
      } finally {
        await daemon.stop();
      }
    }

    const ways = [
      ['the npm archive, without a registry', installArchive],
      ['the Debian package', installDebianPackage],
      ['the image', installImage],
    ] as const;

    it.each(ways)(
      'watches a server with the policy of acl, from %s',
      async (_way, install) => {
        const { image, command, user } = await install(store, directory);
        prepare(await store.run(image, [...command, 'acl']), user);
        const config = '--config.file=/etc/automation-exporter/config.yaml';
        expect(await store.run(image, [...command, 'check', config])).toMatch(allIsWell);
        await seeServer(await store.start(image, [...command, 'serve', config, '--web.listen-address=127.0.0.1:0']));
      },
      limitMs,
    );

    it(
      'works with the commands of the README on a machine with Node 20',
      async () => {
        const cli = startCli(['acl']);
        await cli.ended;
        prepare(cli.output(), '0:0');
        const image = await addCheckout(store, directory);
        const [install = ''] = readBlock('npm ci').split(' && ');
        const watch = readBlock('export AUTOMATION_EXPORTER_URL')
          .replace('https://automation.example.org', simulator.url)
          .replace('/run/secrets/automation-token', '/etc/automation-exporter/token');
        const script = `set -eu\ntest "$(node --version)" = v20.20.2\n${install}\n${watch}`;
        const typed = await store.start(image, ['sh', '-c', script], {
          HOME: '/root',
          AUTOMATION_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
        });
        try {
          await typed.waitFor(allIsWell, limitMs);
          await seeServer(typed);
        } finally {
          // The container ends together with its shell, but the processes of npm continue.
          endWith(`AUTOMATION_EXPORTER_URL=${simulator.url}`);
        }
        expect(typed.output()).not.toMatch(/denied/);
      },
      limitMs,
    );
  });
});

/** Ends the processes that have this variable in their environment. */
function endWith(variable: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable)) process.kill(Number(pid));
    } catch {
      // The process has ended meanwhile.
    }
  }
}

const allIsWell = /: every enabled endpoint is readable, or disabled on the server$/m;

/** The block of the README that begins with these words. */
function readBlock(start: string): string {
  const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const block = [...readme.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, text = '']) => text);
  const found = block.find((text) => text.startsWith(start));
  if (found === undefined) throw new Error(`README.md has no block that begins with ${start}`);
  return found;
}
