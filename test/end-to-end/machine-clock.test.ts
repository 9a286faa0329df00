import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { provideCli } from '../support/built.ts';
import { type Child, startChild } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { describeWithTools } from '../support/tools.ts';
import { toSeries } from './scraped.ts';

const patience = { limitMs: 30_000 };
const hour = 3600;
const day = 24 * hour;
const counter =
  'automation_executions_total{server="default",project="shop",job_group="nightly",job_name="settle",status="succeeded"}';

describeWithTools('end-to-end/machine-clock', ['faketime'], () => {
  let directory: string;
  let simulator: Simulator;
  let daemon: Child | undefined;

  beforeEach(async () => {
    directory = makeFolder();
    simulator = await startSimulator({ scenario: 'empty', token: 'a-token' });
    simulator.control.createProject('shop');
    simulator.control.createJob('shop', { name: 'settle', group: 'nightly' }, 'settle');
  });
  afterEach(async () => {
    await daemon?.stop();
    await simulator.stop();
  });

  /** Sets the wall clock of the process, not the monotonic clock. */
  function setClock(aheadSeconds: number): void {
    writeFileSync(join(directory, 'clock'), `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds}\n`);
  }

  async function start(): Promise<string> {
    const everies = ['system-info', 'execution-mode', 'executions'].map((name) => `--collector.${name}.every=1s`);
    const options = ['--web.listen-address=127.0.0.1:0', '--metrics.hold-new-series=0s', '--log.level=debug'];
    const state = `--state.dir=${join(directory, 'state')}`;
    daemon = startChild(process.execPath, [provideCli(), 'serve', ...options, ...everies, state], {
      env: {
        AUTOMATION_EXPORTER_URL: simulator.url,
        AUTOMATION_EXPORTER_TOKEN: simulator.token,
        HOME: directory,
        LD_PRELOAD: globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0] ?? '',
        FAKETIME_TIMESTAMP_FILE: join(directory, 'clock'),
        FAKETIME_NO_CACHE: '1',
        DONT_FAKE_MONOTONIC: '1',
      },
    });
    const [, url = ''] = await daemon.waitFor(/msg=serving url=(\S+)/, patience.limitMs);
    return url;
  }

  /** Ends an execution, and waits for its count and for the clock difference. */
  async function countOne(url: string, { total, aheadSeconds }: { total: number; aheadSeconds: number }) {
    const nowMs = Date.now();
    simulator.control.addFinished('shop', { jobId: 'settle', startedAtMs: nowMs - 1000, endedAtMs: nowMs });
    await eventually(async () => {
      const series = toSeries(await (await fetch(`${url}/metrics`)).text());
      expect(series.get(counter)).toBe(total);
      expect(series.get('automation_up{server="default"}')).toBe(1);
      const ahead = Math.round(-(series.get('automation_server_clock_skew_seconds{server="default"}') ?? 0) / 60) * 60;
      expect(ahead).toBe(aheadSeconds);
    }, patience);
  }

  it("counts each execution once while the machine's clock jumps", async () => {
    setClock(0);
    let url = await start();
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), patience);
    await countOne(url, { total: 1, aheadSeconds: 0 });
    let total = 1;
    for (const aheadSeconds of [hour, -hour, 12 * day, -400 * day]) {
      setClock(aheadSeconds);
      total += 1;
      await countOne(url, { total, aheadSeconds });
    }
    daemon?.kill('SIGTERM');
    expect(await daemon?.ended).toEqual({ code: 0, signal: null });
    setClock(30 * day);
    url = await start();
    await countOne(url, { total: total + 1, aheadSeconds: 30 * day });
    expect(daemon?.output()).not.toMatch(/level=error/);
  }, 240_000);
});
