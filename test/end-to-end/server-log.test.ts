import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

describe('end-to-end, the log messages about a server', () => {
  it('logs one line for each change of state', { timeout: 60_000 }, async () => {
    const simulator = await startSimulator({ clock: 'free', apiVersion: 47 });
    onTestFinished(() => simulator.stop());
    const daemon = await startDaemon({
      yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 100 } }]
collectors: { execution-mode: { every: 1s }, system-info: { every: 1s }, ping: { every: 1s }, healthcheck: { every: 1s }, log-storage: { every: 1s } }
`,
      token: simulator.token,
    });
    onTestFinished(daemon.stop);
    const ofServer = (): readonly string[] =>
      daemon.logged.flatMap((line) => {
        const [, level = '', said = ''] = /level=(info|warn|error) msg=(?:"([^"]*)"|\S+) server=prod/.exec(line) ?? [];
        // Lines about skipped polls of a busy machine are removed.
        return said === '' || said.startsWith('poll skipped') ? [] : [`${level} ${said}`];
      });
    await eventually(async () => expect(ofServer()).toContain('info server is up'));
    expect(daemon.logged.join('')).toMatch(/msg="server is up" server=prod release=\S+ apiVersion=47 dialect=rundeck/);

    simulator.control.addFault({ kind: 'status', status: 503 });
    await eventually(async () => expect(ofServer()).toContain('warn server is down'), { limitMs: 15_000 });
    simulator.control.clearFaults();
    await eventually(async () => expect(ofServer().at(-1)).toBe('info server is up'), { limitMs: 40_000 });
    simulator.control.setExecutionMode('passive');
    await eventually(async () => expect(ofServer().at(-1)).toBe('warn server is passive and runs nothing'));
    simulator.control.setExecutionMode('active');
    await eventually(async () => expect(ofServer().at(-1)).toBe('info server is active again'));
    expect(ofServer()).toEqual([
      'info server is up',
      'warn server is down',
      'info server is up',
      'warn server is passive and runs nothing',
      'info server is active again',
    ]);
    expect(daemon.logged.join('')).toMatch(/msg="server is active again" server=prod afterSeconds=\d+/);
  });
});
