import type { Plant } from '../plants.ts';

const engine = 'test/world/replicas/engine.ts';

/** Faults of leases and fences, which worlds with several daemons must find; each is shown by a seed. */
export const replicaPlants: readonly Plant[] = [
  {
    name: 'no fence',
    patches: [{ file: engine, find: '            fence();\n', replace: '            void fence;\n' }],
    shownBy: '',
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
    shownBy: '',
  },
  {
    name: 'leases expire by the clock on the wall',
    patches: [
      {
        file: engine,
        find: 'found.lease.expiresMs <= nowMs()',
        replace: 'found.lease.expiresMs <= link.wallMs()',
      },
    ],
    shownBy: '',
  },
  {
    name: 'a renewal that renewed nothing counts',
    patches: [
      {
        file: 'src/ownership/tenures.ts',
        find: 'else if (isOurs) hold(',
        replace: 'else if (isOurs || !isOurs) hold(',
      },
    ],
    shownBy: '',
  },
  {
    name: 'shown before it is committed',
    patches: [
      {
        file: 'src/executions/ledger/ledger-cache.ts',
        find: '    await ledger.commit(server, { entries,',
        replace: '    apply(change);\n    await ledger.commit(server, { entries,',
      },
    ],
    shownBy: '',
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
    shownBy: '',
  },
  {
    name: 'a commit without an answer counts as failed',
    patches: [
      {
        file: 'src/ownership/owned-states.ts',
        find: "else if (error instanceof UnansweredError) observe.fault('unanswered');",
        replace: '',
      },
    ],
    shownBy: '',
  },
  {
    name: 'a lost tail goes unnoticed',
    patches: [
      {
        file: 'src/ownership/tenure.ts',
        find: 'return Math.max(0, knownCommits - commits);',
        replace: 'return 0 * (knownCommits - commits);',
      },
    ],
    shownBy: '',
  },
];
