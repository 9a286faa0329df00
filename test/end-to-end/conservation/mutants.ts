import type { Api, Client } from '../../../src/api/client.ts';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import type { Execution } from '../../../src/domain/execution.ts';
import { reconcile } from '../../../src/executions/counting/reconcile.ts';
import { planProjects } from '../../../src/executions/reading/plan-projects.ts';
import { planReads } from '../../../src/executions/reading/plan-reads.ts';
import type { Scene, WrongPart } from './scene.ts';

type Mutant = {
  readonly name: string;
  readonly make: () => WrongPart;
  /** A problem in which the faulty part loses executions or counts them twice. */
  readonly trouble: (scene: Scene) => Promise<void>;
};

/** Faulty parts of the daemon, each with a small problem that reveals the fault. */
export const mutants: readonly Mutant[] = [
  {
    name: 'no overlap',
    make: () => ({ substitutes: { planReads: (input) => planReads({ ...input, overlapMs: 0 }) } }),
    trouble: async ({ control, job, nowMs, rounds }) => {
      const endedAtMs = nowMs();
      const visibleAtMs = endedAtMs + 50_000;
      control.addFinished('pay', { jobId: job, startedAtMs: endedAtMs - 2000, endedAtMs, visibleAtMs });
      await rounds(8);
    },
  },
  {
    name: 'no dedupe',
    make: () => ({ substitutes: { reconcile: (input) => reconcile({ ...input, known: new Map() }) } }),
    trouble: finishAndRead,
  },
  {
    name: 'dedupe by id alone',
    make: () => ({
      substitutes: {
        reconcile: (input) => reconcile({ ...input, rows: input.rows.filter(({ id }) => !input.known.has(id)) }),
      },
    }),
    trouble: async (scene) => {
      await finishAndRead(scene);
      scene.renewDatabase();
      await finishAndRead(scene);
    },
  },
  {
    name: 'the newest end seen as the watermark',
    make: trustNewestEnd,
    trouble: async (scene) => {
      // A member whose clock is ahead reports this end.
      const endedAtMs = scene.nowMs() + 600_000;
      scene.control.addFinished('pay', { jobId: scene.job, startedAtMs: endedAtMs - 3000, endedAtMs });
      await scene.rounds(2);
      await finishAndRead(scene);
      await scene.rounds(45);
    },
  },
  {
    name: 'stop at a short page',
    make: () => ({ wrap: trustShortPages }),
    trouble: async ({ control, job, hiddenJob, nowMs, rounds }) => {
      for (let count = 0; count < 700; count += 1) {
        const jobId = count % 4 === 0 ? hiddenJob : job;
        control.addFinished('pay', { jobId, startedAtMs: nowMs() - 2000 - count, endedAtMs: nowMs() });
      }
      await rounds(8);
    },
  },
  {
    name: 'prune too early',
    make: () => ({
      keep: (ledger, nowMs) => ({
        ...ledger,
        commit: async (server, change) => {
          await ledger.commit(server, change);
          await ledger.commit(server, { prune: { project: 'pay', endedBeforeMs: nowMs() - 30_000 } });
        },
      }),
    }),
    trouble: finishAndRead,
  },
  {
    name: 'take unfinished rows',
    make: () => ({
      substitutes: { reconcile: (input) => reconcile({ ...input, rows: input.rows.map(toFinishedAnyway) }) },
    }),
    trouble: async ({ control, job, rounds }) => {
      control.configure({ unfinishedDated: true });
      control.setConditions({ durationFactor: 20 });
      control.runJob(job);
      await rounds(8);
    },
  },
  {
    name: 'a new project starts now',
    make: () => ({
      substitutes: {
        planProjects: (input) => planProjects({ ...input, facts: { ...input.facts, listedAtMs: input.nowMs } }),
      },
    }),
    trouble: async ({ control, nowMs, rounds }) => {
      control.createProject('new');
      control.addFinished('new', { startedAtMs: nowMs() - 2000, endedAtMs: nowMs() });
      await rounds(12);
    },
  },
];

async function finishAndRead({ control, job, nowMs, rounds }: Scene): Promise<void> {
  control.addFinished('pay', { jobId: job, startedAtMs: nowMs() - 2000, endedAtMs: nowMs() });
  await rounds(8);
}

function toFinishedAnyway(row: Execution): Execution {
  return { ...row, endedAtMs: row.endedAtMs ?? row.startedAtMs };
}

/** The reader continues from the newest known end, and ignores the clock of the server. */
function trustNewestEnd(): WrongPart {
  let newestMs = Number.NEGATIVE_INFINITY;
  return {
    wrap: (client) =>
      wrapList(client, async (ask, { query }) => {
        const begin = Math.max(query.begin, newestMs - 120_000);
        const timed = await ask({ query: { ...query, begin, end: query.end + 86_400_000 } });
        for (const { endedAtMs = newestMs } of timed.answer.items) newestMs = Math.max(newestMs, endedAtMs);
        return timed;
      }),
  };
}

/** Treats a page with few rows as the last page. */
function trustShortPages(client: Client): Client {
  return wrapList(client, async (ask, input) => {
    const timed = await ask(input);
    const { length } = timed.answer.items;
    if (length >= input.query.max) return timed;
    return { ...timed, answer: { ...timed.answer, total: input.query.offset + length } };
  });
}

type List = { readonly total: number; readonly items: readonly Execution[] };
type Query = { readonly begin: number; readonly end: number; readonly offset: number; readonly max: number };
type Input = { readonly query: Query };
type Timed = { readonly answer: List };
type GetTimed = (endpoint: Endpoint<unknown>, input: Input) => Promise<Timed>;

/** Changes the lists of finished executions before the daemon sees them. */
function wrapList(
  client: Client,
  wrong: (ask: (input: Input) => Promise<Timed>, input: Input) => Promise<Timed>,
): Client {
  return {
    ...client,
    within: (scope) => {
      const api = client.within(scope);
      // These casts are safe: only the response of one endpoint is changed, and this response is a list.
      const ask = api.getTimed as unknown as GetTimed;
      const getTimed: GetTimed = (endpoint, input) => {
        if (endpoint.name !== 'project-executions') return ask(endpoint, input);
        return wrong(({ query }) => ask(endpoint, { ...input, query }), input);
      };
      return { ...api, getTimed: getTimed as unknown as Api['getTimed'] };
    },
  };
}
