import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildDebianPackage } from '../scripts/build/debian.ts';
import { makeSharedFolder } from './support/folder.ts';
import { baseName } from './support/image-base.ts';
import { openImageStore } from './support/image-store.ts';
import { describeWithTools } from './support/tools.ts';

const limitMs = 600_000;
const directory = makeSharedFolder();
const folder = join(directory, 'image');

describeWithTools('debian package', ['lintian', 'buildah'], ({ buildah }) => {
  beforeAll(async () => {
    const file = await buildDebianPackage(directory, { compression: 'none' });
    mkdirSync(folder);
    renameSync(file, join(folder, basename(file)));
    writeFileSync(join(folder, 'Dockerfile'), `FROM ${baseName}\nCOPY * /deb/\n`);
    writeFileSync(join(folder, 'life.sh'), life);
  }, limitMs);

  describe.skipIf(process.getuid?.() !== 0)('in a root of its own', () => {
    it(
      'installs, serves as its own user, keeps a changed configuration on upgrade, and leaves nothing after purge',
      async () => {
        const store = await openImageStore(buildah);
        onTestFinished(() => store.close());
        await store.build(folder, 'debian-package');
        expect(await store.run('debian-package', ['sh', '/deb/life.sh'])).toMatch(story);
      },
      limitMs,
    );
  });
});

const life = `set -eu
export DEBIAN_FRONTEND=noninteractive
dpkg -i /deb/*.deb >/dev/null
automation-exporter --version
stat -c '%U:%G %a' /etc/automation-exporter
cd /tmp
setpriv --reuid automation-exporter --regid automation-exporter --clear-groups \\
  automation-exporter demo --state.memory --web.listen-address=127.0.0.1:0 --port=0 2>/tmp/log >/dev/null &
pid=$!
for second in $(seq 60); do grep -q 'msg=serving' /tmp/log && break; sleep 1; done
url=$(sed -n 's/.*msg=serving url=\\([^ ]*\\).*/\\1/p' /tmp/log)
/usr/lib/automation-exporter/node -e "fetch('$url/metrics').then((r) => r.text()).then((t) => console.log(/^automation_exporter_build_info.*/m.exec(t)[0]))"
stat -c 'runs as %U' /proc/$pid
kill $pid
wait $pid
echo '# changed' >> /etc/automation-exporter/config.yaml
dpkg -i /deb/*.deb >/dev/null
tail -n 1 /etc/automation-exporter/config.yaml
mkdir -p /var/lib/automation-exporter /etc/systemd/system/multi-user.target.wants
install -m 0640 -o root -g automation-exporter /dev/null /etc/automation-exporter/token
enabled=/etc/systemd/system/multi-user.target.wants/automation-exporter.service
ln -sf /lib/systemd/system/automation-exporter.service $enabled
dpkg --purge automation-exporter >/dev/null 2>&1
ls -d /usr/bin/automation-exporter /usr/lib/automation-exporter /var/lib/automation-exporter $enabled 2>/dev/null || echo 'nothing left'
stat -c '%U:%G %a' /etc/automation-exporter
getent passwd automation-exporter || echo 'no user left'
`;

const story =
  /^automation-exporter \S+\nroot:automation-exporter 750\nautomation_exporter_build_info\{version="\S+",node_version="v24\S+"\} 1\nruns as automation-exporter\n# changed\nnothing left\nroot:root 700\nno user left$/;
