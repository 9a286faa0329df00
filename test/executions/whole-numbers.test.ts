import { describe, expect, it } from 'vitest';
import { play as startPlay } from './play.ts';
import type { SceneOptions } from './scene.ts';

describe('executions/whole-numbers', () => {
  it('sends whole milliseconds', async () => {
    const { control, finish, counted, round, simulator, kept } = await play({ tickMs: 0.3001 });
    control.addFault({ kind: 'status', path: '/executions/running', status: 500 });
    await round();
    finish('pay');
    for (let count = 0; count < 12; count += 1) await round();
    expect(counted()).toEqual(['pay settle succeeded 1']);
    expect(toFractions(simulator.requests().map(({ query }) => query))).toEqual([]);
    expect(toFractions(await kept())).toEqual([]);
  });

  it('repairs a ledger with fractions', async () => {
    const damage = (body: string): string => body.replace(/("\w+Ms":1\d{12})\b/g, '$1.9004');
    const { finish, counted, rounds, simulator, kept, restart, ledger } = await play({
      settings: { holdNewSeriesMs: 0 },
    });
    await rounds(2);
    finish('pay');
    await rounds(12);
    for (const { kind, key, body = '' } of await ledger.load('upstream')) {
      if (kind !== 'project' && kind !== 'server') continue;
      await ledger.commit('upstream', { documents: [{ kind, key, body: damage(body) }] });
    }
    expect(toFractions(await kept())).toHaveLength(5);
    const before = simulator.requests().length;
    restart();
    finish('pay');
    await rounds(12);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    expect(
      toFractions(
        simulator
          .requests()
          .slice(before)
          .map(({ query }) => query),
      ),
    ).toEqual([]);
    expect(toFractions(await kept())).toEqual([]);
  });

  it.each([
    ['running-executions', '/executions/running'],
    ['projects', '/api/\\d+/projects$'],
    ['system-info', '/(executions/running|system/info)'],
  ])('continues to count while %s fails', async (_endpoint, path) => {
    const { control, finish, counted, rounds, round } = await play();
    await rounds(2);
    control.addFault({ kind: 'status', path, status: 500 });
    finish('pay');
    const outcomes: string[] = [];
    for (let count = 0; count < 24; count += 1) outcomes.push(await round());
    expect(counted()).toEqual(['pay settle succeeded 1']);
    expect(outcomes.some((outcome) => outcome.includes('500'))).toBe(true);
  });
});

/** Finds texts that look like numbers with fractions. */
function toFractions(texts: readonly (string | undefined)[]): string[] {
  return texts.flatMap((text) => text?.match(/\d{9,}\.\d+/g) ?? []);
}

async function play(options: SceneOptions = {}) {
  const started = await startPlay(options);
  return {
    ...started,
    kept: async () =>
      (await started.ledger.load('upstream')).flatMap(({ kind, body }) =>
        /^(project|server)$/.test(kind) ? [body] : [],
      ),
  };
}
