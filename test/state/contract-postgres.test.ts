import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';
import { openPostgresState } from '../../src/state/postgres/open-postgres.ts';
import { type PostgresServer, startPostgres, toSettings } from '../support/postgres.ts';
import { describeWithTools } from '../support/tools.ts';
import { describeContract, type Engine } from './contract.ts';

describeWithTools('state/postgres keeps the contract', ['postgresql'], ({ postgresql }) => {
  let server: PostgresServer;
  let schemas = 0;

  beforeAll(async () => {
    server = await startPostgres(postgresql, { fsync: 'off' });
  }, 60_000);
  afterAll(() => server.stop(), 60_000);

  describeContract(async () => {
    schemas += 1;
    const schema = `contract ${schemas}`;
    const open = async (): Promise<Engine> => {
      const replica = { owner: `replica-${schema}`, address: '' };
      const shared = await openPostgresState({
        settings: toSettings(server, schema),
        replica,
        clock: systemClock,
        units: ['prod'],
      });
      const own = async (unit: string) => shared.owned(unit, (await shared.leases.acquire(unit, 60_000)).lease);
      return {
        prod: await own('prod'),
        other: await own('other'),
        reopen: async () => {
          await shared.close();
          return open();
        },
        close: () => shared.close(),
      };
    };
    return open();
  });
});
