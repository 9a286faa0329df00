import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/commands/log.ts';
import { createReloading } from '../../src/commands/run-app.ts';
import type { Config } from '../../src/config/config.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load-config.ts';
import { parseArguments } from '../../src/config/read/command-line.ts';
import type { Clock } from '../../src/domain/clock.ts';

async function load(level: string): Promise<LoadedConfig> {
  const env = {
    AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9',
    AUTOMATION_EXPORTER_TOKEN: 'a-token',
    AUTOMATION_EXPORTER_LOG_LEVEL: level,
  };
  return loadConfig({
    arguments: parseArguments([], { collectors: [] }),
    env,
    readFile: async () => '',
    collectors: [],
  });
}

/** A clock without waits. */
const hasty = {
  ticks: () => 0,
  after: (_ms: number, run: () => void) => {
    run();
    return () => undefined;
  },
};

/** Starts a daemon; the test sets its configuration and the time of each reload. */
async function start(apply: (config: Config) => Promise<void>, clock: Pick<Clock, 'ticks' | 'after'> = hasty) {
  const world = { level: 'info', loads: 0 };
  const loaded = await load(world.level);
  if (!loaded.ok) throw new Error('the configuration of the test is wrong');
  const lines: string[] = [];
  const outcomes: boolean[] = [];
  const loadAgain = () => {
    world.loads += 1;
    return load(world.level);
  };
  const log = createLog({
    level: 'info',
    format: 'logfmt',
    secrets: () => [],
    write: (line) => lines.push(line.trim().replace(/^ts=\S+ /, '')),
  });
  const reload = createReloading({
    loaded: { config: loaded.config, loadAgain },
    log,
    apply,
    onOutcome: ({ ok }) => outcomes.push(ok),
    clock,
  });
  return { world, reload, lines, outcomes };
}

describe('commands/reloading', () => {
  it('applies a new configuration', async () => {
    const applied: string[] = [];
    const { world, reload, lines, outcomes } = await start(async ({ log }) => void applied.push(log.level));
    world.level = 'warn';

    expect(await reload()).toEqual({ ok: true, warnings: [] });
    expect({ applied, outcomes, lines }).toEqual({
      applied: ['warn'],
      outcomes: [true],
      lines: ['level=info msg="configuration reloaded" servers=1'],
    });
  });

  it('keeps the old configuration if the new one is wrong', async () => {
    const applied: string[] = [];
    const { world, reload, lines, outcomes } = await start(async ({ log }) => void applied.push(log.level));
    world.level = 'loud';
    const complaint = 'AUTOMATION_EXPORTER_LOG_LEVEL: takes one of debug, info, warn, error, found the text "loud"';

    expect(await reload()).toEqual({ ok: false, complaints: [complaint] });
    expect({ applied, outcomes, lines }).toEqual({
      applied: [],
      outcomes: [false],
      lines: [
        `level=error msg="configuration reload failed: previous configuration stays in force" complaint=${JSON.stringify(complaint)}`,
      ],
    });
  });

  it('keeps the old configuration if the daemon cannot apply the new one', async () => {
    const { reload, outcomes } = await start(() => Promise.reject(new Error('the port is gone')));

    expect(await reload()).toEqual({ ok: false, complaints: ['reload: the port is gone'] });
    expect(outcomes).toEqual([false]);
  });

  it('never runs two reloads at the same time', async () => {
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    let underWay = 0;
    let most = 0;
    const { world, reload } = await start(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      begun.resolve();
      await held.promise;
      underWay -= 1;
    });

    const first = reload();
    await begun.promise;
    const second = reload();
    const third = reload();
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(world.loads).toBe(1);
    held.resolve();
    await first;

    expect(await Promise.all([second, third])).toEqual([
      { ok: true, warnings: [] },
      { ok: true, warnings: [] },
    ]);
    expect({ loads: world.loads, most }).toEqual({ loads: 2, most: 1 });
  });

  it('reloads again after a failed reload', async () => {
    const { world, reload } = await start(async () => undefined);
    world.level = 'loud';
    await reload();
    world.level = 'debug';

    expect(await reload()).toEqual({ ok: true, warnings: [] });
  });

  it('starts at most one reload a second', async () => {
    const waitsMs: number[] = [];
    let ticks = 5000;
    const clock = {
      ticks: () => ticks,
      after: (ms: number, run: () => void) => {
        waitsMs.push(ms);
        ticks += ms;
        run();
        return () => undefined;
      },
    };
    const beganTicks: number[] = [];
    const { reload } = await start(async () => {
      beganTicks.push(ticks);
      ticks += 300;
    }, clock);
    for (let count = 0; count < 3; count += 1) await reload();
    ticks += 10_000;
    await reload();
    expect({ waitsMs, beganTicks }).toEqual({ waitsMs: [700, 700], beganTicks: [5000, 6000, 7000, 17_300] });
  });
});
