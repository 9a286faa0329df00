import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isSoundDocument } from '../../src/executions/ledger/document-shapes.ts';
import type { Disk } from './memory-state.ts';

/** The fields of the first releases, for documents of each kind. The times also had fractions of milliseconds. */
const fields: Readonly<Record<string, readonly string[]>> = {
  server: ['epoch', 'epochStartedAtMs', 'oneTimeIds', 'listedAtMs', 'gapUntilMs', 'leap', 'skewMs', 'buckets'],
  project: ['project', 'countedFromMs', 'scannedThroughMs', 'rereadThroughMs', 'hold', 'heldSinceMs'],
  job: [
    'project',
    'group',
    'name',
    'jobId',
    'lastStartMs',
    'lastEndMs',
    'lastSuccessMs',
    'lastDurationMs',
    'lastId',
    'lastFailedId',
    'lastEnding',
    'consecutiveFailures',
    'averageDurationMs',
  ],
};

/** Returns a document as the previous release would have stored it. */
function toOlder(kind: string, body: string): string {
  const known = fields[kind];
  if (known === undefined) return body;
  // This cast is safe: documents of these kinds are objects.
  const found = Object.entries(JSON.parse(body) as Readonly<Record<string, unknown>>);
  const kept = found.flatMap(([name, value]) => {
    if (!known.includes(name)) return [];
    return [[name, name === 'scannedThroughMs' && typeof value === 'number' ? value + 0.25 : value]];
  });
  const older = Object.fromEntries(kept) as unknown;
  if (!isSoundDocument(kind, older)) throw new Error(`a ${kind} of an older release is taken for damaged`);
  return JSON.stringify(older);
}

/** Replaces the content of a disk with that of the previous release. */
export function ageDisk({ servers }: Disk): void {
  for (const { documents } of servers.values())
    for (const [at, document] of documents)
      documents.set(at, { ...document, body: toOlder(document.kind, document.body) });
}

/** Replaces the content of a state file; the older schema has neither checksums nor identity. */
export function ageFile(dir: string): void {
  const database = new DatabaseSync(join(dir, 'state.sqlite'));
  database.function('to_older', (kind, body) => toOlder(String(kind), String(body)));
  database.exec(`
    UPDATE ledger_document SET body = to_older(kind, body);
    ALTER TABLE ledger_document DROP COLUMN checksum;
    ALTER TABLE collector_memory DROP COLUMN checksum;
    ALTER TABLE spooled_trace DROP COLUMN checksum;
    DROP TABLE state_identity;
    PRAGMA user_version = 3;`);
  database.close();
  rmSync(join(dir, 'state.commits'), { force: true });
}
