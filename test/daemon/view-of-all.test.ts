import { describe, expect, it } from 'vitest';
import { createViewOfAll, startSegmentWriter } from '../../src/daemon/view-of-all.ts';
import { toBlock } from '../../src/metrics/block.ts';
import { gauge } from '../../src/metrics/family.ts';
import { deflatedSegments, toSegmentBytes } from '../../src/metrics/shared-view.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import type { FamilySegment, Segment, SegmentChoice, SegmentOwner, Segments } from '../../src/state/shared-state.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';

const bytesOf = async (name: string) => {
  const block = await toBlock(Buffer.from(`${name}{server="a"} 1\n`));
  return toSegmentBytes({
    family: { name, help: 'H.', type: 'gauge', labels: [], merge: 'sum' },
    samples: { text: block, openmetrics: block },
  });
};
const wish = { format: 'text', gzip: false } as const;
const text = async (view: ReturnType<typeof createViewOfAll>) => Buffer.concat(await view.scrape(wish)).toString();

const up = gauge('automation_up', 'Up.');
const jobs = gauge('automation_jobs', 'Jobs.', 'project');

/** What replicas share: who owns which server, and what was written. */
function createShared() {
  const owners = new Map<string, SegmentOwner>();
  const rows = new Map<string, Segment>();
  const writes: string[] = [];
  let version = 0;
  const segments: Segments = {
    write: async (unit, epoch, families) => {
      version += 1;
      writes.push(families.map(({ family }: FamilySegment) => family).join(' '));
      for (const { family, bytes } of families) rows.set(`${unit} ${family}`, { unit, family, epoch, version, bytes });
    },
    read: async (_expiredMs, choose) => listNew([...rows.values()], choose(owners)),
  };
  return { segments, owners, writes, rows };
}

const ownedBy = (owner: string, epoch: number, unwrittenMs = 10_000, timeline = '00000001'): SegmentOwner => ({
  owner,
  epoch,
  unwrittenMs,
  timeline,
});

function listNew(rows: readonly Segment[], after: ReturnType<SegmentChoice>): Segment[] {
  return rows.filter(({ unit, epoch, version }) => {
    const seen = after.get(unit);
    return seen?.epoch === epoch && version > seen.version;
  });
}

/** A clock whose one timer begins again when its work is done. */
function createSteppedClock() {
  let nowTicks = 0;
  let timer: { readonly atTicks: number; readonly run: () => void } | undefined;
  return {
    ...fakeClock({
      ticks: () => nowTicks,
      after: (ms, run) => {
        timer = { atTicks: nowTicks + ms, run };
        return () => {
          timer = undefined;
        };
      },
    }),
    advance: async (ms: number): Promise<void> => {
      const endTicks = nowTicks + ms;
      while (timer !== undefined && timer.atTicks <= endTicks) {
        const { atTicks, run } = timer;
        nowTicks = atTicks;
        timer = undefined;
        run();
        await eventually(async () => {
          if (timer === undefined) throw new Error('the work is not done');
        });
      }
      nowTicks = endTicks;
    },
  };
}

function createReplica(shared: ReturnType<typeof createShared>, servers: readonly string[] = ['a', 'b']) {
  const clock = createSteppedClock();
  const snapshots = createSnapshots(clock);
  const view = createViewOfAll({ segments: shared.segments, codec: deflatedSegments, servers: () => servers });
  return {
    clock,
    publish: (server: string, rows: Parameters<typeof snapshots.publish>[0]['rows'], validForMs = 600_000) =>
      snapshots.publish({
        source: server,
        server,
        collector: 'health',
        baseLabels: [['server', server]],
        rows,
        validForMs,
      }),
    write: (unit: string, epoch: number, failed = fail) =>
      startSegmentWriter({
        unit,
        epoch,
        snapshots,
        segments: shared.segments,
        clock,
        codec: deflatedSegments,
        observe: { written: () => undefined, failed },
      }),
    scrape: async (servers?: readonly string[]) =>
      Buffer.concat(
        await view.scrape({ format: 'text', gzip: false, ...(servers && { servers: new Set(servers) }) }),
      ).toString(),
  };
}

const fail = (error: unknown): void => {
  throw error;
};

describe('daemon/view-of-all', () => {
  it('reads everything again on another timeline, although the version there is lower than the one that was read', async () => {
    const shared = createShared();
    const [one, other] = [createReplica(shared), createReplica(shared)];
    shared.owners.set('a', ownedBy('one', 1));
    await one.publish('a', [...up.rows(1), ...jobs.rows(3, { project: 'pay' })]);
    one.write('a', 1);
    await one.clock.advance(1000);
    expect(await other.scrape()).toContain('automation_jobs{server="a",project="pay"} 3');
    // The clock of the promoted standby is behind, and it had not been told that a family is gone.
    for (const [key, row] of shared.rows) shared.rows.set(key, { ...row, version: row.version - 1 });
    shared.rows.delete('a automation_jobs');
    expect(await other.scrape()).toContain('automation_jobs{server="a",project="pay"} 3');
    shared.owners.set('a', ownedBy('one', 1, 10_000, '00000002'));
    for (const [key, row] of shared.rows) shared.rows.set(key, { ...row, version: row.version + 0.5 });
    expect(await other.scrape()).not.toContain('automation_jobs');
    expect(await other.scrape()).toContain('automation_up{server="a"} 1');
  });

  it('shows the servers of every owner on each replica, and one header for each family', async () => {
    const shared = createShared();
    const [one, other] = [createReplica(shared), createReplica(shared)];
    shared.owners.set('a', ownedBy('one', 1)).set('b', ownedBy('other', 4));
    await one.publish('a', [...up.rows(1), ...jobs.rows(3, { project: 'pay' })]);
    await other.publish('b', [...up.rows(0)]);
    one.write('a', 1);
    other.write('b', 4);
    await one.clock.advance(1000);
    await other.clock.advance(1000);

    const text = `# HELP automation_jobs Jobs.
# TYPE automation_jobs gauge
automation_jobs{server="a",project="pay"} 3
# HELP automation_up Up.
# TYPE automation_up gauge
automation_up{server="a"} 1
automation_up{server="b"} 0
`;
    expect(await one.scrape()).toBe(text);
    expect(await other.scrape()).toBe(text);
    expect(await other.scrape(['b'])).toBe(`# HELP automation_up Up.
# TYPE automation_up gauge
automation_up{server="b"} 0
`);
  });

  it('writes only what has changed, at most once in five seconds', async () => {
    const shared = createShared();
    const { clock, publish, write } = createReplica(shared);
    await publish('a', [...up.rows(1), ...jobs.rows(3, { project: 'pay' })]);
    write('a', 1);
    await clock.advance(9000);
    expect(shared.writes).toEqual(['automation_up automation_jobs']);
    for (const value of [4, 5, 6, 7]) {
      await publish('a', [...up.rows(1), ...jobs.rows(value, { project: 'pay' })]);
      await clock.advance(1000);
    }
    expect(shared.writes).toEqual(['automation_up automation_jobs', 'automation_jobs']);
    await clock.advance(5000);
    expect(shared.writes).toEqual(['automation_up automation_jobs', 'automation_jobs', 'automation_jobs']);
  });

  it('says every ten seconds that what has not changed is still shown', async () => {
    const shared = createShared();
    const { clock, publish, write } = createReplica(shared);
    await publish('a', [...up.rows(1)]);
    write('a', 1);
    await clock.advance(32_000);
    expect(shared.writes).toEqual(['automation_up', '', '', '']);
  });

  it('says it sooner when it is told that the database may be another server', async () => {
    const shared = createShared();
    const { clock, publish, write } = createReplica(shared);
    await publish('a', [...up.rows(1)]);
    const writer = write('a', 1);
    await clock.advance(2000);
    writer.confirm();
    await clock.advance(1000);
    expect(shared.writes).toEqual(['automation_up', '']);
  });

  it('writes everything again after a write that failed: nobody knows what the database has', async () => {
    const shared = createShared();
    const { write: writeSegments } = shared.segments;
    let fails = false;
    const segments: Segments = {
      ...shared.segments,
      write: async (...asked) => {
        if (fails) throw new Error('the database does not answer');
        await writeSegments(...asked);
      },
    };
    const failures: unknown[] = [];
    const { clock, publish, write } = createReplica({ ...shared, segments });
    await publish('a', [...up.rows(1), ...jobs.rows(3, { project: 'pay' })]);
    write('a', 1, (error) => void failures.push(error));
    await clock.advance(1000);
    fails = true;
    await publish('a', [...up.rows(1), ...jobs.rows(4, { project: 'pay' })]);
    await clock.advance(5000);
    expect(failures).toHaveLength(1);
    fails = false;
    await clock.advance(5000);
    expect(shared.writes).toEqual(['automation_up automation_jobs', 'automation_up automation_jobs']);
  });

  it('shows nothing of an owner that renews its lease and has written nothing for 30 seconds', async () => {
    const shared = createShared();
    const { clock, publish, write, scrape } = createReplica(shared);
    await publish('a', [...up.rows(1)]);
    write('a', 1);
    await clock.advance(1000);
    shared.owners.set('a', ownedBy('one', 1, 40_000));
    expect(await scrape()).toContain('automation_up{server="a"} 1');
    shared.owners.set('a', ownedBy('one', 1, 40_001));
    expect(await scrape()).toBe('');
    shared.owners.set('a', ownedBy('one', 1, 5000));
    expect(await scrape()).toContain('automation_up{server="a"} 1');
  });

  it('shows nothing of a server that is configured no longer', async () => {
    const shared = createShared();
    const { clock, publish, write } = createReplica(shared);
    shared.owners.set('a', ownedBy('one', 1));
    await publish('a', [...up.rows(1)]);
    write('a', 1);
    await clock.advance(1000);
    expect(await createReplica(shared, ['a']).scrape()).toContain('automation_up{server="a"} 1');
    expect(await createReplica(shared, ['b']).scrape()).toBe('');
  });

  it('reads a server from the beginning when its epoch is given a second time, to another owner, with lower versions', async () => {
    const bytes = { up: await bytesOf('automation_up'), jobs: await bytesOf('automation_jobs') };
    const shared = createShared();
    const { scrape } = createReplica(shared);
    const put = (family: 'up' | 'jobs', version: number) =>
      shared.rows.set(family, { unit: 'a', family: `automation_${family}`, epoch: 5, version, bytes: bytes[family] });
    shared.owners.set('a', ownedBy('one', 5));
    put('up', 1000);
    put('jobs', 1000);
    expect(await scrape()).toContain('automation_jobs{server="a"} 1');

    // The database has lost its last transactions, and its clock is behind.
    shared.rows.clear();
    shared.owners.set('a', ownedBy('other', 5));
    put('up', 700);
    expect(await scrape()).toBe('# HELP automation_up H.\n# TYPE automation_up gauge\nautomation_up{server="a"} 1\n');
  });

  it('removes a family that was written without an answer, and is shown no longer', async () => {
    const shared = createShared();
    const { write: writeSegments } = shared.segments;
    let isAnswered = false;
    const segments = {
      ...shared.segments,
      write: async (...asked: Parameters<typeof writeSegments>) => {
        await writeSegments(...asked);
        if (!isAnswered) throw new Error('the answer is lost');
      },
    };
    const failures: unknown[] = [];
    const { clock, publish, write, scrape } = createReplica({ ...shared, segments });
    shared.owners.set('a', ownedBy('one', 1));
    await publish('a', [...up.rows(1), ...jobs.rows(3, { project: 'pay' })]);
    write('a', 1, (error) => void failures.push(error));
    await clock.advance(1000);
    expect(failures).toHaveLength(1);
    isAnswered = true;
    await publish('a', [...up.rows(1)]);
    await clock.advance(5000);
    expect(await scrape()).toBe('# HELP automation_up Up.\n# TYPE automation_up gauge\nautomation_up{server="a"} 1\n');
  });

  it('shows no family that its owner shows no longer', async () => {
    const shared = createShared();
    const { clock, publish, write, scrape } = createReplica(shared);
    shared.owners.set('a', ownedBy('one', 1));
    await publish('a', [...up.rows(1), ...jobs.rows(3, { project: 'pay' })]);
    write('a', 1);
    await clock.advance(1000);
    await publish('a', [...up.rows(1)]);
    await clock.advance(6000);
    expect(await scrape()).toBe('# HELP automation_up Up.\n# TYPE automation_up gauge\nautomation_up{server="a"} 1\n');
  });

  it('shows nothing that an earlier epoch has written, and nothing without an owner', async () => {
    const shared = createShared();
    const { clock, publish, write, scrape } = createReplica(shared);
    shared.owners.set('a', ownedBy('one', 1));
    await publish('a', [...up.rows(1)]);
    const first = write('a', 1);
    await clock.advance(1000);
    expect(await scrape()).toContain('automation_up{server="a"} 1');
    await first.stop();

    shared.owners.set('a', ownedBy('one', 2));
    expect(await scrape()).toBe('');
    expect(await createReplica(shared).scrape()).toBe('');
    await publish('a', [...up.rows(0)]);
    write('a', 2);
    await clock.advance(1000);
    expect(await scrape()).toContain('automation_up{server="a"} 0');
    shared.owners.delete('a');
    expect(await scrape()).toBe('');
  });

  it('reads nothing of a server that nobody owns any longer', async () => {
    const asked: string[][] = [];
    const view = createViewOfAll({
      segments: {
        read: async (_expiredMs, choose) => {
          asked.push([...choose(new Map()).keys()]);
          return [];
        },
      },
      codec: deflatedSegments,
      servers: () => ['old'],
    });
    for (let n = 0; n < 2; n++) await view.scrape(wish);
    expect(asked).toEqual([[], []]);
  });

  it('shows the families after one that could not be read, once it can', async () => {
    const broken = { unit: 'a', family: 'b', epoch: 1, version: 3, bytes: new Uint8Array([1, 2, 3]) };
    const rows: Segment[] = [
      { unit: 'a', family: 'a', epoch: 1, version: 9, bytes: await bytesOf('a') },
      broken,
      { unit: 'a', family: 'c', epoch: 1, version: 4, bytes: await bytesOf('c') },
    ];
    const view = createViewOfAll({
      segments: {
        read: async (_expiredMs, choose) => listNew(rows, choose(new Map([['a', ownedBy('one', 1)]]))),
      },
      codec: deflatedSegments,
      servers: () => ['a'],
    });
    await expect(view.scrape(wish)).rejects.toThrow('unexpected end of file');
    rows[1] = { ...broken, version: 10, bytes: await bytesOf('b') };
    expect(await text(view)).toContain('c{server="a"} 1');
  });
});
