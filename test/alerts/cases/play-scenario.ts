import { createClock } from '../../../simulator/clock.ts';
import { createService } from '../../../simulator/simulator.ts';
import { createReloadNotes } from '../../../src/daemon/generation.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { createCollector } from '../../world/collector.ts';
import { configure, token } from '../../world/configured.ts';
import { createDaemon } from '../../world/daemon.ts';
import { createDice } from '../../world/dice.ts';
import { createNetwork, fairWeather } from '../../world/network.ts';
import { birthMs } from '../../world/scene.ts';
import { createDaemonClock, createVirtualTime } from '../../world/virtual-time.ts';

/** The values of each series, one for each scrape; undefined if the scrape lacked the series. */
export type Scrapes = ReadonlyMap<string, readonly (string | undefined)[]>;

export const scrapeSeconds = 30;

/** Plays a scenario of the demo in virtual time with a daemon without sockets, and scrapes the daemon. */
export async function playScenario(scenario: string, minutes: number): Promise<Scrapes> {
  const time = createVirtualTime(birthMs);
  const dice = createDice(scenario);
  const clock = createClock(() => Math.floor(time.nowMs()), 'free');
  const service = createService({ scenario, token }, clock);
  const daemonClock = createDaemonClock(time, { wallOffsetMs: 0, drift: 0 }, dice.of('daemon'));
  const toDispatcher = createNetwork({
    time,
    service: service.world,
    climate: { usual: fairWeather, fronts: [] },
    dice: dice.of('network'),
    onSent: () => undefined,
    onEnd: () => undefined,
  });
  const state = openSqliteState({ memory: true }, daemonClock.clock);
  const collector = createCollector({ time, dice: dice.of('collector'), timeoutMs: 10_000 });
  const daemon = createDaemon({
    config: await configure(demoYaml),
    clock: daemonClock,
    state,
    toDispatcher,
    post: collector.post,
    apartMs: undefined,
    onLine: () => undefined,
  });
  const values = new Map<string, (string | undefined)[]>();
  let scrapes = 0;

  async function scrape(): Promise<void> {
    const text = `${Buffer.concat(daemon.scrape()).toString()}\n${await daemon.self.registry.metrics()}`;
    for (const line of text.split('\n')) {
      const [, series, value] = /^([a-z_]+(?:\{.*\})?) (\S+)(?: \S+)?(?: # .*)?$/.exec(line) ?? [];
      if (series === undefined || value === undefined) continue;
      const known = values.get(series) ?? [];
      values.set(series, known);
      known[scrapes] = value;
    }
    scrapes += 1;
  }

  function keepScraping(): void {
    time.hold(scrape());
    time.after(scrapeSeconds * 1000, keepScraping);
  }
  createReloadNotes(daemon.self, daemonClock.clock).note({ ok: true, warnings: [] });
  daemon.start();
  time.after(scrapeSeconds * 1000, keepScraping);
  await time.run(birthMs + minutes * 60_000);
  daemonClock.kill();
  await state.close();
  return values;
}

/** The settings of the command `demo`, without slow settings that affect no alert. */
const demoYaml = `
servers:
  - { name: demo, url: 'http://service', token_file: token, budget: { requests_per_second: 100 } }
executions: { backfill: 6h }
metrics: { hold_new_series: 0s }
traces: { enabled: off }
`;
