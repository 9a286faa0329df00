import { systemClock } from '../../src/domain/system-clock.ts';
import { createConnections } from '../../src/state/postgres/connections.ts';
import { createOwnedUnit } from '../../src/state/postgres/owned-unit.ts';
import { createPostgresLeases } from '../../src/state/postgres/postgres-leases.ts';
import { toSettings } from './postgres.ts';

/**
 * A process that owns `prod` and stops before a commit. On a signal, the process commits, writes once more, and prints
 * both results.
 */
const [port = '', password = '', schema = ''] = process.argv.slice(2);
const connections = createConnections(toSettings({ port: Number(port), password }, schema), systemClock);
const replica = { owner: 'paused', address: '' };
const { lease } = await createPostgresLeases(connections, replica).acquire('prod', 1000);
const owned = createOwnedUnit(connections, { ...lease, ...replica });

function insert(id: number): Promise<string> {
  return owned
    .write(async (sql) => {
      await sql(`INSERT INTO ledger_entry VALUES ('prod', $1, 1, 'pay', 100)`, [id]);
      if (id !== 7) return;
      process.stdout.write('within the transaction\n');
      process.kill(process.pid, 'SIGSTOP');
    })
    .then(
      () => 'written',
      (error: unknown) => String(error),
    );
}
process.stdout.write(`first: ${await insert(7)}\n`);
process.stdout.write(`then: ${await insert(8)}\n`);
await connections.close();
