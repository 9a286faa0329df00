import { Router } from 'express';
import { describe, expect, it } from 'vitest';
import { parseBcryptHash } from '../../src/config/values/web-values.ts';
import { createAccess } from '../../src/http/access/access.ts';
import { serve } from '../http/serve.ts';
import { runHere } from './run-cli.ts';

/** Starts a daemon that admits only the user `night`. */
async function startGuarded() {
  const hash = parseBcryptHash('$2y$04$abcdefghijklmnopqrstuuQqp2ijbqy7RhfpDwOmcLbiuAc8Qiwiy');
  const users = new Map(hash === undefined ? [] : [['night', hash]]);
  const config = { tls: undefined, headers: new Map(), users, rateLimit: undefined };
  const clock = { ticks: () => 0, nextTurn: async () => {} };
  const access = createAccess({ config, openPaths: [], clock, onRefused: () => {} });
  const routes = Router();
  routes.get('/api/quarantine', (_, response) => void response.json({ quarantined: [], traces: 0 }));
  routes.post('/-/quarantine/retry', (_, response) => void response.json({ traces: 3 }));
  routes.get('/api/why', (_, response) => void response.json({ verdict: 'ran', sentence: 'Ran.', facts: [] }));
  return serve([routes], { access });
}

const files = { password: 'correct horse battery staple ü€\n', wrong: 'battery\n' };
const login = ['--web.username=night', '--web.password-file=password'];

describe('commands/find-daemon', () => {
  it('names the missing settings if the daemon has users', async () => {
    const { url } = await startGuarded();
    const says = 'Unauthorized: a user of this exporter and the password are required.\n';
    const hint = 'Set --web.username and --web.password-file\n';
    expect(await runHere(['quarantine', 'list', `--url=${url}`])).toMatchObject({ code: 2, stderr: says + hint });
    expect(await runHere(['why', 'prod', 'pay/settle', `--url=${url}`])).toMatchObject({
      code: 2,
      stderr: says + hint,
    });
    const wrong = ['--web.username=night', '--web.password-file=wrong'];
    expect(await runHere(['quarantine', 'list', `--url=${url}`, ...wrong], { files })).toMatchObject({
      code: 2,
      stderr: says,
    });
  });

  it('logs in with the configured user', async () => {
    const { url, port } = await startGuarded();
    const list = ['quarantine', 'list'];
    const well = { code: 0, stdout: 'No trace is quarantined\n', stderr: '' };
    expect(await runHere([...list, `--url=${url}`, ...login], { files })).toMatchObject(well);
    const env = { AUTOMATION_EXPORTER_WEB_USERNAME: 'night', AUTOMATION_EXPORTER_WEB_PASSWORD_FILE: 'password' };
    expect(await runHere([...list, `--url=${url}`], { files, env })).toMatchObject(well);
    const web = `{ listen_address: '127.0.0.1:${port}', username: night, password_file: password }`;
    const configured = { ...files, 'config.yaml': `web: ${web}\n` };
    expect(await runHere([...list, '--config.file=config.yaml'], { files: configured })).toMatchObject(well);
    expect(await runHere(['quarantine', 'retry', '--all', `--url=${url}`, ...login], { files })).toMatchObject({
      stdout: '3 traces are queued again\n',
    });
    expect(await runHere(['why', 'prod', 'pay/settle', `--url=${url}`, ...login], { files })).toMatchObject({
      code: 0,
      stdout: 'Ran.\n',
    });
  });

  it.each([
    [['--web.username=night'], '--web.password-file: is missing (--web.username needs it)\n'],
    [['--web.password-file=password'], '--web.username: is missing (--web.password-file needs it)\n'],
    [
      ['--web.username=night', '--web.password-file=/nowhere/password'],
      '--web.password-file: the file "/nowhere/password" does not exist\n',
    ],
  ])('complains about an incomplete user: %j', async (flags, stderr) => {
    const asked = await runHere(['quarantine', 'list', '--url=http://127.0.0.1:9', ...flags], { files });
    expect(asked).toMatchObject({ code: 2, stderr });
  });
});
