import type { Plant } from '../plants.ts';

const engine = 'test/world/replicas/engine.ts';

/** Faults of leases and fences, each with a seed that shows it. */
export const replicaPlants: readonly Plant[] = [
  {
    // Two checks notice lost changes, so both are removed.
    name: 'no fence, and nobody compares commits',
    patches: [
      { file: engine, find: '            fence();\n', replace: '            void fence;\n' },
      {
        file: 'src/ownership/tenure.ts',
        find: 'commits.get(lease.unit)) > 0',
        replace: 'commits.get(lease.unit)) < 0',
      },
    ],
    shownBy:
      '--seed=1 --cards=lost_tail_owner@100000+2000,lost_tail_owner@130000+2000,lost_tail_owner@160000+2000,lost_tail_owner@200000+2000,lost_tail_owner@240000+2000,lost_tail_owner@280000+2000',
  },
  {
    name: 'the fence is read outside of the transaction',
    patches: [
      { file: engine, find: '            fence();\n', replace: '' },
      {
        file: engine,
        find: '        link.onWrite?.();\n',
        replace: '        link.onWrite?.();\n        await ask(link, fence, false);\n',
      },
    ],
    shownBy: '--seed=5 --cards=pause_inside_1@270080+66451,pause_owner@290968+26832',
  },
  {
    name: 'leases expire by the clock on the wall',
    patches: [
      { file: engine, find: 'found.lease.expiresMs <= nowMs()', replace: 'found.lease.expiresMs <= link.wallMs()' },
    ],
    shownBy: '--seed=3 --cards=kill_owner@200000+300000',
  },
  {
    // Two checks notice a lost lease, so both are removed.
    name: 'a renewal that renewed nothing counts, and nobody looks for the own lease',
    patches: [
      {
        file: 'src/ownership/tenure.ts',
        find: 'return isOurs ? [] : [{ unit, epoch }];',
        replace: 'return isOurs ? [] : [];',
      },
      {
        file: 'src/ownership/tenures.ts',
        find: 'else if (isOurs) hold(',
        replace: 'else if (isOurs || !isOurs) hold(',
      },
    ],
    shownBy: '--seed=1 --cards=deleted_lease_owner@268101+12341',
  },
  {
    name: 'an owner that is not renewed goes on',
    patches: [
      {
        file: 'src/ownership/tenure.ts',
        find: 'const actsForMs = (leaseMs * 2) / 3;',
        replace: 'const actsForMs = leaseMs * 20;',
      },
    ],
    shownBy: '--seed=1 --cards=pause_owner@100000+12000,pause_owner@150000+30000,pause_owner@223000+20000',
  },
  {
    name: 'executions are shown before they are committed',
    patches: [
      {
        file: 'src/executions/ledger/ledger-cache.ts',
        find: '    await ledger.commit(server, { entries,',
        replace: '    apply(change);\n    await ledger.commit(server, { entries,',
      },
    ],
    shownBy:
      '--seed=1 --cards=lost_write_owner@100000+2000,lost_write_owner@150000+2000,lost_write_owner@190000+2000,lost_write_owner@223000+2000',
  },
];
