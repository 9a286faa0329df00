import { readdirSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { provideCli } from '../support/built.ts';
import { type Child, startChild } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';

const patience = { limitMs: 30_000 };

describe('end-to-end/shell-limits', () => {
  let directory: string;
  let simulator: Simulator;

  beforeEach(async () => {
    directory = makeFolder();
    simulator = await startSimulator();
  });
  afterEach(() => simulator.stop());

  function start(limit: string): Child {
    const options = `--web.listen-address=127.0.0.1:0 --state.dir='${join(directory, 'state')}' --collector.execution-mode.every=1s`;
    const daemon = startChild('sh', ['-c', `${limit}; exec '${process.execPath}' '${provideCli()}' serve ${options}`], {
      env: { AUTOMATION_EXPORTER_URL: simulator.url, AUTOMATION_EXPORTER_TOKEN: simulator.token, HOME: directory },
    });
    onTestFinished(() => daemon.stop());
    return daemon;
  }

  it('creates files that other users cannot read', async () => {
    const daemon = start('umask 000');
    await daemon.waitFor(/msg="server is up"/, patience.limitMs);
    const whileItRuns = await eventually(async () => {
      const modes = listModes(directory);
      expect(Object.keys(modes)).toContain('state/state.sqlite-wal');
      return modes;
    }, patience);
    daemon.kill('SIGTERM');
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    const afterwards = listModes(directory);

    expect(Object.keys(afterwards)).toEqual(
      expect.arrayContaining(['.cache', 'state', 'state/backup.sqlite', 'state/state.commits', 'state/state.sqlite']),
    );
    const all = [...Object.entries(whileItRuns), ...Object.entries(afterwards)];
    expect(all.filter(([, mode]) => mode !== '600' && mode !== '700')).toEqual([]);
  }, 120_000);

  it('continues after clients have used all its file descriptors', async () => {
    const daemon = start('ulimit -n 46');
    const [, url = ''] = await daemon.waitFor(/msg=serving url=(\S+)/, patience.limitMs);
    await eventually(async () => expect(await scrape(url)).toContain('automation_up{server="default"} 1'), patience);

    const strangers = Array.from({ length: 400 }, () => hold(Number(new URL(url).port)));
    await eventually(async () => expect(countOpen(daemon.pid)).toBeGreaterThanOrEqual(46), { everyMs: 1 });
    await eventually(async () => expect(await scrape(url)).toContain('automation_up{server="default"} '), patience);
    for (const stranger of strangers) stranger.destroy();

    await eventually(async () => expect(await scrape(url)).toContain('automation_up{server="default"} 1'), patience);
    const before = await readLastSuccess(url);
    await eventually(async () => expect(await readLastSuccess(url)).toBeGreaterThan(before), patience);
    daemon.kill('SIGTERM');
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  }, 120_000);
});

async function scrape(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
}

async function readLastSuccess(url: string): Promise<number> {
  const name = 'automation_exporter_collector_last_success_timestamp_seconds';
  return Number(new RegExp(`^${name}{.*collector="execution-mode".*} (.+)$`, 'm').exec(await scrape(url))?.[1]);
}

/** A client that sends an incomplete request. */
function hold(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port }, () => socket.write('GET /metrics HTTP/1.1\r\n'));
  return socket.on('error', () => {});
}

function countOpen(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The modes of all files and folders below a folder. */
function listModes(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(paths.map((path) => [path, (statSync(join(folder, path)).mode & 0o777).toString(8)]));
}
