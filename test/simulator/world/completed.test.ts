import { describe, expect, it } from 'vitest';
import { ask, noon, startEmpty } from '../caller.ts';

describe('simulator/world/completed', () => {
  it('keeps the order of completion after an import', async () => {
    const simulator = await startEmpty();
    simulator.control.createProject('p');
    for (const hours of [1, 2, 300, 3]) {
      simulator.control.addFinished('p', {
        startedAtMs: noon - hours * 3_600_000,
        endedAtMs: noon - hours * 3_600_000 + 1000,
      });
    }
    const all = await ask(simulator, 'api/47/project/p/executions');
    const window = await ask(
      simulator,
      `api/47/project/p/executions?begin=${noon - 4 * 3_600_000}&end=${noon - 3_600_000}`,
    );
    await simulator.stop();
    const ids = ({ json }: { json: unknown }) =>
      (json as { executions: { id: number }[] }).executions.map(({ id }) => id);
    expect([ids(all), ids(window)]).toEqual([
      [1, 2, 4, 3],
      [2, 4],
    ]);
  });

  it('removes the oldest executions if there are too many', async () => {
    const simulator = await startEmpty({ retained: 10 });
    simulator.control.createProject('p');
    for (let count = 0; count < 30; count += 1) {
      simulator.control.addFinished('p', { startedAtMs: noon - 9000, endedAtMs: noon - 5000 + count });
    }
    const { json } = await ask(simulator, 'api/47/project/p/executions?max=1');
    const gone = await ask(simulator, 'api/47/execution/1');
    await simulator.stop();
    expect(json).toMatchObject({ paging: { total: 10 }, executions: [{ id: 30 }] });
    expect(gone.status).toBe(404);
  });
});
