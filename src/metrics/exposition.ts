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

export type Wanted = Selection & {
  readonly format: Format;
  readonly gzip: boolean;
  /** The servers of this replica: of the others only the owner is told. All servers where there are no replicas. */
  readonly owned?: ReadonlySet<string>;
};

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

  function showOwn(format: Format, { servers, owned }: Whose): Promise<Block> {
    const { families, blocks } = readOwn();
    const key = JSON.stringify([format, [...(servers ?? [])], [...(owned ?? [])]]);
    const block = blocks.get(key) ?? families.then((read) => renderOwn(read, format, { servers, owned }));
    blocks.set(key, block);
    return block;
  }

  return {
    scrape: async ({ format, gzip, servers, collectors, owned }) => {
      const own = collectors?.has(ownCollector) === false ? [] : [await showOwn(format, { servers, owned })];
      const shown = owned === undefined ? servers : intersect(owned, servers);
      const selection = {
        ...(shown === undefined ? {} : { servers: shown }),
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

type Whose = {
  readonly servers: ReadonlySet<string> | undefined;
  readonly owned: ReadonlySet<string> | undefined;
};

type Reading = {
  readonly families: Promise<readonly OwnFamily[]>;
  /** The rendered blocks, by format and servers. */
  readonly blocks: Map<string, Promise<Block>>;
  readonly untilTicks: number;
};

function renderOwn(families: readonly OwnFamily[], format: Format, { servers, owned }: Whose): Promise<Block> {
  let text = '';
  for (const { family, rows } of families) {
    const some = owned !== undefined && !family.name.startsWith(ofLeases) ? intersect(owned, servers) : servers;
    const samples = renderSamples(some === undefined ? rows : rows.filter((row) => isOf(some, serverOf(row))));
    if (samples !== '') text += renderHeader(family, format) + samples;
  }
  return toBlock(text);
}

/** Every replica reports for every server whether it owns it. */
const ofLeases = 'automation_exporter_lease_';

function intersect(owned: ReadonlySet<string>, servers: ReadonlySet<string> | undefined): ReadonlySet<string> {
  return servers === undefined ? owned : new Set([...owned].filter((server) => servers.has(server)));
}

function isOf(servers: ReadonlySet<string>, server: string | undefined): boolean {
  return server === undefined || servers.has(server);
}
