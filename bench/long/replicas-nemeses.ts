import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from '../../test/support/eventually.ts';
import { runCommand } from '../../test/support/process.ts';
import type { ReplicaScene } from './replicas-scene.ts';
import { pause } from './replicas-watch.ts';

/** Breaks and repairs something; returns the time until a replica shows all executions. */
type Nemesis = {
  readonly name: string;
  readonly play: (scene: ReplicaScene, round: number) => Promise<number>;
  readonly kind: 'takeover' | 'recovery' | 'hand-over';
};

const schema = 'automation_exporter';

export const nemeses: readonly Nemesis[] = [
  {
    name: 'the owner is killed',
    kind: 'takeover',
    play: async (scene) => {
      const { replica } = await scene.settle();
      scene.setLoad(true);
      replica.child().kill('SIGKILL');
      const { ms } = await scene.waitForOther(replica);
      await replica.child().ended;
      await replica.start();
      return ms;
    },
  },
  {
    name: 'the owner is stopped, and continues',
    kind: 'takeover',
    play: async (scene, round) => {
      const { replica } = await scene.settle();
      scene.setLoad(true);
      replica.child().kill('SIGSTOP');
      const { ms } = await scene.waitForOther(replica);
      // Some of the pauses last for a minute.
      if (round % 5 === 2) await pause(60_000 - ms);
      replica.child().kill('SIGCONT');
      return ms;
    },
  },
  { name: 'the owner is stopped within a transaction, and continues', kind: 'takeover', play: stopInside },
  {
    name: 'the owner is cut from the database',
    kind: 'takeover',
    play: async (scene) => {
      const { replica } = await scene.settle();
      scene.setLoad(true);
      replica.wire.cut();
      const { ms } = await scene.waitForOther(replica);
      replica.wire.mend();
      return ms;
    },
  },
  {
    name: 'the database is killed',
    kind: 'recovery',
    play: async (scene, round) => {
      scene.setLoad(true);
      await scene.database().crash();
      // Some pauses are longer than a lease.
      await pause(round % 3 === 1 ? 9000 : 500);
      await scene.database().start();
      return recover(scene);
    },
  },
  {
    name: 'a synchronous standby is promoted',
    kind: 'recovery',
    play: async (scene) => {
      const standby = await scene.startStandby();
      const primary = scene.database();
      await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
      await primary.query('SELECT pg_reload_conf()');
      await eventually(async () => {
        const [row] = await primary.query('SELECT sync_state FROM pg_stat_replication');
        if (JSON.stringify(row) !== '{"sync_state":"sync"}') throw new Error('the standby is not synchronous yet');
      });
      scene.setLoad(true);
      await pause(2000);
      await scene.failOver(standby);
      return recover(scene);
    },
  },
  { name: 'an asynchronous standby that is behind is promoted', kind: 'recovery', play: loseTail },
  {
    name: 'the clock of the owner steps by an hour',
    kind: 'recovery',
    play: async (scene, round) => {
      const { replica } = await scene.settle();
      scene.setLoad(true);
      replica.setClock(round % 2 === 0 ? 3600 : -3600);
      await pause(4000);
      const ms = await recover(scene);
      replica.setClock(0);
      scene.setLoad(true);
      await pause(2000);
      return ms;
    },
  },
  { name: 'the disk of the database is full', kind: 'recovery', play: fillDisk },
  {
    name: 'the database answers 100 ms later',
    kind: 'recovery',
    play: async (scene) => {
      const before = await scene.settle();
      scene.setLoad(true);
      for (const { wire } of scene.replicas) wire.slowDown(100);
      await pause(8000);
      const after = await scene.settleUnderLoad();
      for (const { wire } of scene.replicas) wire.slowDown(0);
      if (after.replica !== before.replica) scene.watch.faults.push('a slow database cost the owner its server');
      return recover(scene);
    },
  },
  {
    name: 'the lease is deleted by hand',
    kind: 'recovery',
    play: async (scene) => {
      scene.setLoad(true);
      await scene.database().query(`DELETE FROM ${schema}.lease`);
      await pause(1000);
      return recover(scene);
    },
  },
  {
    name: 'every replica is replaced in turn',
    kind: 'hand-over',
    play: async (scene) => {
      scene.setLoad(true);
      const took: number[] = [];
      for (const replica of scene.replicas) {
        const owner = scene.watch.owner()?.replica;
        replica.child().kill('SIGTERM');
        await replica.child().ended;
        if (owner === replica) took.push((await scene.waitForOther(replica)).ms);
        await replica.start();
      }
      return Math.max(0, ...took);
    },
  },
];

async function recover(scene: ReplicaScene): Promise<number> {
  scene.setLoad(false);
  return (await scene.settle()).ms;
}

/** Stops an owner inside a transaction: a lock delays the transaction until the process is stopped; then the database ends the transaction. */
async function stopInside(scene: ReplicaScene): Promise<number> {
  const { replica } = await scene.settle();
  const database = scene.database();
  const holder = new pg.Client({
    host: '127.0.0.1',
    port: database.port,
    database: 'postgres',
    user: 'postgres',
    password: database.password,
  });
  holder.on('error', () => undefined);
  await holder.connect();
  try {
    await holder.query(`BEGIN; SELECT 1 FROM ${schema}.unit FOR UPDATE`);
    scene.setLoad(true);
    await eventually(async () => {
      const waiting = await database.query(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE unit SET commits%'`,
      );
      if (waiting.length === 0) throw new Error('no commit is under way');
    });
    replica.child().kill('SIGSTOP');
  } finally {
    await holder.end();
  }
  const { ms } = await scene.waitForOther(replica);
  replica.child().kill('SIGCONT');
  return ms;
}

/** Loses transactions: counts executions while the standby is stopped, then kills the primary. */
async function loseTail(scene: ReplicaScene): Promise<number> {
  const standby = await scene.startStandby();
  scene.setLoad(true);
  await pause(1000);
  await standby.halt();
  await pause(3000);
  await scene.settleUnderLoad();
  await scene.database().crash();
  await standby.start();
  scene.watch.pardon(9000);
  await scene.failOver(standby);
  scene.watch.pardon(8000);
  return recover(scene);
}

/** Moves the table of executions to a small disk, and fills the disk for a while. */
async function fillDisk(scene: ReplicaScene): Promise<number> {
  const database = scene.database();
  const small = join(database.dir, 'small');
  mkdirSync(small);
  await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', small]);
  try {
    chmodSync(small, 0o777);
    await database.query(`COPY (SELECT 1) TO PROGRAM 'cat > /dev/null && mkdir ${small}/tables'`);
    await database.query(`CREATE TABLESPACE small LOCATION '${small}/tables'`);
    await database.query(`ALTER TABLE ${schema}.ledger_entry SET TABLESPACE small`);
    const filler = join(small, 'filler');
    const said = scene.replicas.map(({ child }) => child().output().length);
    fill(filler);
    scene.setLoad(true);
    for (let run = 0; run < 300; run += 1) scene.finish();
    await eventually(async () => {
      const isSaid = scene.replicas.some(({ child }, index) => child().output().includes('disk is full', said[index]));
      if (!isSaid) throw new Error('no log says that the disk is full');
    });
    rmSync(filler);
    const ms = await recover(scene);
    await database.query(`ALTER TABLE ${schema}.ledger_entry SET TABLESPACE pg_default`);
    await database.query('DROP TABLESPACE small');
    return ms;
  } finally {
    await runCommand('umount', ['-l', small]);
    rmSync(small, { recursive: true, force: true });
  }
}

function fill(file: string): void {
  for (const bytes of [65_536, 4096]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

/** Reports whether this process may mount, which only root may, and not in every container. */
export function mayMount(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
}
