import type { Registry } from 'prom-client';
import { type Block, joinBlocks, toBlock, toBlockNow, toGzip } from './block.ts';
import type { Format } from './format.ts';
import { type LabelsOf, type OwnFamily, readOwnFamilies, serverOf } from './own-rows.ts';
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

/**
 * Builds the answer to a scrape: the daemon's own instruments and the snapshots; bytes are joined, and nothing is rendered
 * twice.
 */
export function createExposition({ snapshots, registry, labelsOf, ticks }: ExpositionOptions): Exposition {
  const end = { text: toBlockNow(renderEnd('text')), openmetrics: toBlockNow(renderEnd('openmetrics')) };
  let last: Reading | undefined;

  /** Many scrapes at once are answered from one reading, in both formats: its values are at most a second old. */
  function readOwn(): Reading {
    const nowTicks = ticks();
    if (last === undefined || nowTicks >= last.untilTicks) {
      last = { families: readOwnFamilies(registry, labelsOf), blocks: new Map(), untilTicks: nowTicks + ownAgeMs };
    }
    return last;
  }

  function showOwn(format: Format, servers: Selection['servers']): Promise<Block> {
    const { families, blocks } = readOwn();
    const key = JSON.stringify([format, ...(servers ?? [])]);
    const block = blocks.get(key) ?? families.then((read) => renderOwn(read, format, servers));
    blocks.set(key, block);
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

type Reading = {
  readonly families: Promise<readonly OwnFamily[]>;
  /** The rendered blocks, by format and servers. */
  readonly blocks: Map<string, Promise<Block>>;
  readonly untilTicks: number;
};

function renderOwn(
  families: readonly OwnFamily[],
  format: Format,
  servers: ReadonlySet<string> | undefined,
): Promise<Block> {
  let text = '';
  for (const { family, rows } of families) {
    const samples = renderSamples(servers === undefined ? rows : rows.filter((row) => isOf(servers, serverOf(row))));
    if (samples !== '') text += renderHeader(family, format) + samples;
  }
  return toBlock(text);
}

function isOf(servers: ReadonlySet<string>, server: string | undefined): boolean {
  return server === undefined || servers.has(server);
}
