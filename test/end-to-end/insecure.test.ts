import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startCli } from '../support/child.ts';
import { makeSharedFolder } from '../support/folder.ts';

const directory = makeSharedFolder();
beforeAll(() => {
  writeFileSync(join(directory, 'token'), 'planted\n', { mode: 0o600 });
  const servers = ['open', 'checked'].map(
    (name) =>
      `  - { name: ${name}, url: 'https://127.0.0.1:9/${name}', token_file: ./token, tls: { insecure_skip_verify: ${name === 'open'} } }`,
  );
  writeFileSync(
    join(directory, 'config.yaml'),
    `servers:\n${servers.join('\n')}\nweb: { listen_address: '127.0.0.1:0' }\nlog: { format: json }\n`,
  );
});

describe('end-to-end/insecure', () => {
  it('warns about each server whose certificate is not verified', async () => {
    const daemon = startCli(['serve', '--config.file=config.yaml', '--state.dir=state'], { cwd: directory });
    try {
      await daemon.waitFor(/"?url"?[=:]"?http:\/\/127\.0\.0\.1:\d+/);
    } finally {
      await daemon.stop();
    }
    const warnings = daemon
      .output()
      .split('\n')
      .filter((line) => line.includes('not verified'));
    expect(warnings.length).toBe(1);
    expect(JSON.parse(warnings[0] ?? '')).toMatchObject({
      level: 'warn',
      server: 'open',
      msg: 'certificates are not verified: anyone between exporter and server can read and change the traffic',
    });
  });
});
