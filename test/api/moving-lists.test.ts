import { describe, expect, it, onTestFinished } from 'vitest';
import { logStorageIncompleteCollector } from '../../src/collectors/log-storage-incomplete.ts';
import { createRunningReader } from '../../src/executions/reading/running-reader.ts';
import { createTestClient, fixedSecret } from '../support/client.ts';
import { createDirectSimulator } from '../support/direct-simulator.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createTestWatch } from '../support/watch.ts';

const count = 700;

describe('api/paging, lists that lose many rows between two pages', () => {
  it('reads every running execution when many others end between two pages', async () => {
    const { simulator, api, vanish } = setUp('/executions/running');
    const job = simulator.control.createJob('pay', { name: 'settle' });
    const ids = Array.from({ length: count }, () => simulator.control.runJob(job, { atMs: Date.UTC(2027, 0, 1) }) ?? 0);
    const left = vanish(ids);

    const read = createRunningReader(
      () => 0,
      () => {},
    );
    const { executions = [] } = await read(() => api, ['pay']);
    expect(executions.map(({ id }) => id).toSorted((one, other) => one - other)).toEqual(left);
  });

  it('counts every incomplete log when many others disappear between two pages', async () => {
    const { simulator, api, vanish } = setUp('/logstorage/incomplete');
    simulator.control.failLogStorage(true);
    const ids = Array.from({ length: count }, () => simulator.control.runCommand('pay', 'true') ?? 0);
    simulator.advance(60_000);
    const left = vanish(ids);

    const { watch } = createTestWatch(fakeClock({ now: () => 0, ticks: () => 0 }));
    const collected = await logStorageIncompleteCollector.collect(api, watch, {}, () => 0);
    const rows = collected.off === undefined ? collected.rows : [];
    const logs = rows
      .filter(({ family }) => family.name.endsWith('_executions'))
      .reduce((sum, { value }) => sum + value, 0);
    expect(logs).toBe(left.length);
  });
});

/** A service in which rows of the first page vanish before the second page is read. */
function setUp(path: string) {
  let pages = 0;
  let doomed: readonly number[] = [];
  const simulator = createDirectSimulator({
    scenario: 'empty',
    apiVersion: 47,
    threadPoolSize: count,
    onRequest: (asked) => {
      if (!asked.path.endsWith(path)) return;
      pages += 1;
      if (pages === 2) simulator.control.deleteExecutions(doomed);
    },
  });
  simulator.control.createProject('pay');
  const { api, close } = createTestClient({
    url: 'http://unused.test',
    transport: simulator.transport,
    token: fixedSecret(simulator.token),
    dialect: 'rundeck',
  });
  onTestFinished(close);
  return {
    simulator,
    api,
    /** Selects rows of the first page in any order, and returns the other rows. */
    vanish: (ids: readonly number[]): readonly number[] => {
      doomed = [...ids.slice(0, 100), ...ids.slice(-100)];
      return ids.slice(100, -100);
    },
  };
}
