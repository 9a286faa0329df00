import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '../support/listen.ts';
import { runCli, runHere } from './run-cli.ts';

const wrong: readonly (readonly [args: string, stderr: string])[] = [
  ['demo --port=99999', '--port: takes a port, 0 to 65535, found "99999"\n'],
  ['simulate --port=x', '--port: takes a port, 0 to 65535, found "x"\n'],
  ['simulate --speed=-1', '--speed: takes a number above 0, found "-1"\n'],
  ['demo --speed=fast', '--speed: takes a number above 0, found "fast"\n'],
  ['simulate --dialect=klingon', '--dialect: takes rundeck or service, found "klingon"\n'],
  [
    'simulate --api-version=3',
    '--api-version: No release to play for API version 3. Known ones: 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 58, 59.\n',
  ],
  [
    'demo --api-version=30',
    '--api-version: belongs to simulate (write simulate --api-version=N: Newest API version of the simulated server)\n',
  ],
  [
    'demo --speed=0 --log.level=loud',
    '--speed: takes a number above 0, found "0"\n--log.level: takes one of debug, info, warn, error, found the text "loud"\n',
  ],
];

describe.concurrent('commands/simulation', () => {
  it.each(wrong)('refuses %s', async (args, stderr) => {
    expect(await runHere(args.split(' '))).toEqual({ code: 2, stdout: '', stderr, left: [] });
  });

  it('ignores variables for a real server and its state', async () => {
    const names = ['USERNAME', 'BEARER_TOKEN_FILE', 'PASSWORD', 'TLS_CA_FILE', 'MEMBERS', 'STATE_POSTGRES_HOST'];
    const env = Object.fromEntries(names.map((name) => [`AUTOMATION_EXPORTER_${name}`, './none']));
    const { stderr } = await runHere(['demo', '--speed=0'], { env });
    expect(stderr).toBe('--speed: takes a number above 0, found "0"\n');
  });

  it.each([1, 2])('ignores the servers of a file with %i', async (count) => {
    const servers = Array.from({ length: count }, (_, index) => `{ name: s${index}, token_file: ./none }`);
    const files = { 'config.yaml': `servers: [${servers.join(', ')}]\nlog: { level: loud }\n` };
    const { stderr } = await runHere(['demo', '--config.file=config.yaml'], { files });
    expect(stderr).toBe('config.yaml:2:15 log.level: takes one of debug, info, warn, error, found the text "loud"\n');
  });

  it('lists the scenarios if a command names an unknown scenario', async () => {
    const { code, stdout, stderr } = await runHere(['demo', '--scenario=quiet-dya']);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^--scenario: There is no scenario "quiet-dya"\. Known ones: quiet-day, .*\n$/);
  });

  it.each(['demo', 'simulate'])('says how to set another port for %s if its port is in use', async (command) => {
    const holder = createServer();
    const port = await listen(holder);
    try {
      expect(await runCli([command, `--port=${port}`])).toEqual({
        code: 1,
        stdout: '',
        stderr: `port ${port} is in use: choose another for the simulated service with ${command} --port=PORT\n`,
        left: [],
      });
    } finally {
      await new Promise((resolve) => holder.close(resolve));
    }
  });

  it('starts the simulated service if no command and no server is given', async () => {
    const holder = createServer();
    // The port of the service is kept in use: the error shows that the command tried to start the service.
    const isHeld = await new Promise<boolean>((resolve) => {
      holder.once('error', () => resolve(false));
      holder.listen(9721, '127.0.0.1', () => resolve(true));
    });
    try {
      expect(await runCli([])).toEqual({
        code: 1,
        stdout: '',
        stderr: 'port 9721 is in use: choose another for the simulated service with demo --port=PORT\n',
        left: [],
      });
    } finally {
      if (isHeld) await new Promise((resolve) => holder.close(resolve));
    }
  });
});
