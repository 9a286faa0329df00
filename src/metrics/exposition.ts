import type { Registry } from 'prom-client';
import { type Block, joinBlocks, toBlock, toBlockNow, toGzip } from './block.ts';
import type { Format } from './format.ts';
import { type LabelsOf, readOwnFamilies, serverOf } from './own-rows.ts';
import { renderEnd, renderHeader, renderSamples } from './render.ts';
import type { Selection, Snapshots } from './snapshot.ts';

/** The name by which a scrape asks for the daemon's own instruments, or for all else. */
export const ownCollector = 'exporter';

export type ExpositionOptions = {
  readonly snapshots: Pick<Snapshots, 'show'>;
  readonly registry: Registry;
  readonly labelsOf: LabelsOf;
  /** A clock that only goes forwards. */
  readonly ticks: () => number;
};

export type Wanted = Selection & { readonly format: Format; readonly gzip: boolean };

export type Exposition = {
  /** The body of an answer, in pieces that other scrapes may share. */
  readonly scrape: (wanted: Wanted) => Promise<readonly Buffer[]>;
};

/** What a scrape gets: the daemon's own instruments, and what the snapshots hold; bytes are joined, nothing is rendered twice. */
export function createExposition({ snapshots, registry, labelsOf, ticks }: ExpositionOptions): Exposition {
  const end = { text: toBlockNow(renderEnd('text')), openmetrics: toBlockNow(renderEnd('openmetrics')) };
  const kept = new Map<string, { readonly block: Promise<Block>; readonly untilTicks: number }>();

  async function renderOwn(format: Format, servers: Selection['servers']): Promise<Block> {
    let text = '';
    for (const { family, rows } of await readOwnFamilies(registry, labelsOf)) {
      const samples = renderSamples(servers === undefined ? rows : rows.filter((row) => isOf(servers, serverOf(row))));
      if (samples !== '') text += renderHeader(family, format) + samples;
    }
    return toBlock(text);
  }

  /** Many scrapers at once are answered from one reading: what it tells is a second old at most. */
  function showOwn(format: Format, servers: Selection['servers']): Promise<Block> {
    const nowTicks = ticks();
    for (const [key, { untilTicks }] of kept) {
      if (nowTicks >= untilTicks) kept.delete(key);
    }
    const key = JSON.stringify([format, ...(servers ?? [])]);
    const block = kept.get(key)?.block ?? renderOwn(format, servers);
    if (!kept.has(key)) kept.set(key, { block, untilTicks: nowTicks + ownAgeMs });
    return block;
  }

  return {
    scrape: async ({ format, gzip, servers, collectors }) => {
      const own = collectors?.has(ownCollector) === false ? [] : [await showOwn(format, servers)];
      const selection = {
        ...(servers === undefined ? {} : { servers }),
        ...(collectors === undefined ? {} : { collectors }),
      };
      const body = joinBlocks([...own, snapshots.show(format, selection), end[format]]);
      return gzip ? toGzip(body) : body.text;
    },
  };
}

/** All there is at this moment, as text. */
export async function renderExposition(snapshots: Snapshots, registry: Registry, format: Format): Promise<string> {
  const { scrape } = createExposition({ snapshots, registry, labelsOf: () => [], ticks: () => 0 });
  return Buffer.concat(await scrape({ format, gzip: false })).toString('utf8');
}

const ownAgeMs = 1000;

function isOf(servers: ReadonlySet<string>, server: string | undefined): boolean {
  return server === undefined || servers.has(server);
}
