import { createServer, type Server } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';
import { allCards } from './cards.ts';
import { createDice } from './dice.ts';
import { type Plan, planWorld } from './plan.ts';
import { playWorld } from './play.ts';

/** The scrapes of a daemon; undefined if it did not respond. */
type Scrapes = readonly (string | undefined)[];

type Stored = {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
};

const worlds = Number(process.env['RESTORED_WORLDS'] ?? 10);
const minuteMs = 60_000;

describeWithTools('world/restored-copies', ['prometheus'], (tools) => {
  const endings: (() => Promise<unknown>)[] = [];

  afterAll(async () => {
    for (const end of endings.reverse()) await end();
  });

  it(
    'shows Prometheus no lower counter after a restore',
    async () => {
      const recorded = new Map<string, Scrapes>();
      const faults: string[] = [];
      for (let seed = 1; seed <= worlds; seed += 1) {
        const scrapes: (string | undefined)[] = [];
        const report = await playWorld(planRestore(seed), {
          onScrape: (text) => scrapes.push(text),
          calmMs: 6 * minuteMs,
        });
        faults.push(...report.faults.map(({ oracle, says }) => `seed ${seed}, ${oracle}: ${says}`));
        recorded.set(`/${seed}`, scrapes);
      }
      expect(faults).toEqual([]);

      const service = await serveInTurn(recorded);
      endings.push(service.stop);
      const prometheus = await startPrometheus({
        prometheus: tools.prometheus,
        target: service.address,
        job: 'worlds',
        paths: [...recorded.keys()],
        every: '400ms',
      });
      endings.push(prometheus.stop);
      await eventually(async () => expect(service.left()).toBe(0), { limitMs: 90_000 });

      const stored = await readCounters(prometheus);
      expect(new Set(stored.map(({ metric }) => metric['path'])).size).toBe(worlds);
      expect(stored.flatMap(findFall)).toEqual([]);
    },
    worlds * 24_000,
  );
});

/** Cards that remove or rename executions after the copy. */
const unknowable: readonly string[] = ['rename job', 'delete job', 'retention', 'new database'];

/** Plans a small world with a restore among other problems. */
function planRestore(seed: number): Plan {
  const plan = planWorld(seed * 10 + 1, allCards);
  const dice = createDice(`restore ${seed}`);
  const atMs = Math.floor(dice.between(4 * minuteMs, 11 * minuteMs));
  const others = plan.cards
    .filter(({ card }) => !unknowable.includes(card))
    .slice(0, 2)
    .map((played) => ({ ...played, atMs: played.atMs % (11 * minuteMs) }));
  const restore = { card: 'restored copy', atMs, forMs: dice.pick([5000, 30_000, 60_000]) } as const;
  return {
    ...plan,
    projects: Math.min(plan.projects, 4),
    lengthMs: 13 * minuteMs,
    scrapeMs: 30_000,
    maxDelayMs: 3 * minuteMs,
    gapMs: 20_000,
    traces: 'off',
    state: 'memory',
    cards: [...others, restore].sort((one, other) => one.atMs - other.atMs),
  };
}

/** Serves the recorded scrapes of each path in their order. */
async function serveInTurn(recorded: ReadonlyMap<string, Scrapes>) {
  const places = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    const place = places.get(path) ?? 0;
    places.set(path, place + 1);
    const text = recorded.get(path)?.[place];
    if (text !== undefined) response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.statusCode = text === undefined ? 503 : 200;
    response.end(text);
  });
  const port = await listen(server);
  return {
    address: `127.0.0.1:${port}`,
    left: () => [...recorded].filter(([path, scrapes]) => (places.get(path) ?? 0) < scrapes.length).length,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const families =
  'automation_(executions_total|project_executions_total|execution_(duration_seconds_(bucket|count|sum)|nodes_total|failures_total)|node_failures_total)';

async function readCounters(prometheus: Prometheus): Promise<readonly Stored[]> {
  // This cast is safe: a range selector returns such rows.
  return (await prometheus.query(`{__name__=~"${families}"}[10m]`)) as readonly Stored[];
}

function findFall({ metric, values }: Stored): string[] {
  let highest = 0;
  for (const [, text] of values) {
    const value = Number(text);
    if (value < highest - 1e-6) return [`${JSON.stringify(metric)}: ${value} after ${highest}`];
    highest = Math.max(highest, value);
  }
  return [];
}
