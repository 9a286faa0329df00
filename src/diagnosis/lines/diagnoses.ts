import { createHmac, randomBytes } from 'node:crypto';
import type { FirstCause, LogLine, Seen } from '../../domain/failure-class.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { chooseLines } from './choose.ts';
import { normalise } from './normalise.ts';
import type { Scrub } from './scrub.ts';
import { addKnown, findOther, type KnownOfJob, refresh } from './seen.ts';
import { type KeptLines, keepLines } from './shown-lines.ts';
import type { Read } from './step-log.ts';

/** The findings in the log of a failure, and the documents to commit. Call `done` after the commit. */
export type Diagnosis = {
  readonly seen: Seen | undefined;
  readonly kept: KeptLines | undefined;
  readonly documents: readonly LedgerDocument[];
  readonly done: () => void;
};

type Failed = {
  readonly job: string;
  readonly jobId?: string | undefined;
  readonly endedAtMs: number;
  /** True if lines may be shown and sent. */
  readonly keepsLines?: boolean;
  /** The lines that were read in addition to the end of the log. */
  readonly read?: Read;
};

const kind = 'fingerprints';
const keyKind = 'fingerprint-key';

/** Recognizes the failures of a server's jobs by the fingerprints of their logs, across restarts. */
export function createDiagnoses(scrub: Scrub) {
  /** The fingerprints by job. The job that failed last is at the end. */
  const jobs = new Map<string, KnownOfJob>();
  let key: string | undefined;

  return {
    load: (documents: readonly LedgerDocument[]): void => {
      // These casts are safe: only this file writes these documents.
      const found = documents.flatMap(({ kind: each, body = '' }) =>
        each === kind ? [JSON.parse(body) as KnownOfJob] : [],
      );
      for (const one of found.sort((left, right) => toLast(left) - toLast(right))) jobs.set(one.job, one);
      const stored = documents.find((document) => document.kind === keyKind)?.body;
      key = stored === undefined ? key : (JSON.parse(stored) as string);
    },
    /** Returns how often a job failed with the same lines, as known now. */
    refresh: (job: string, seen: Seen, endedAtMs: number): Seen => refresh(seen, jobs.get(job)?.known ?? [], endedAtMs),
    note: (
      { job, jobId, endedAtMs, keepsLines = false, read }: Failed,
      cause: FirstCause,
      lines: readonly LogLine[],
    ): Diagnosis => {
      const kept = keepsLines ? keepLines(lines, cause, scrub, read) : undefined;
      const chosen = chooseLines(lines, cause);
      const { texts } = scrub(chosen.map(({ text }) => text));
      const used = key ?? randomBytes(32).toString('base64');
      const fingerprint = toFingerprint(texts, used);
      if (fingerprint === undefined) return { ...nothing, kept };
      const renamed = jobId === undefined ? undefined : [...jobs.values()].find(({ id }) => id === jobId);
      const before = renamed ?? jobs.get(job);
      const { known, seen } = addKnown(before?.known ?? [], fingerprint, endedAtMs);
      const others = [...jobs.values()].filter((other) => other !== before && other.job !== job);
      const alsoIn = findOther(others, fingerprint);
      const next: KnownOfJob = { job, id: jobId, known };
      const former = before === undefined || before.job === job ? [] : [before.job];
      const gone = [...former, ...others.slice(0, Math.max(0, others.length + 1 - maxJobs)).map((other) => other.job)];
      return {
        seen: { ...seen, alsoIn },
        kept,
        documents: [
          ...(key === undefined ? [{ kind: keyKind, key: '', body: JSON.stringify(used) }] : []),
          ...gone.map((each) => ({ kind, key: each, body: undefined })),
          { kind, key: job, body: JSON.stringify(next) },
        ],
        done: () => {
          key = used;
          for (const each of gone) jobs.delete(each);
          jobs.delete(job);
          jobs.set(job, next);
        },
      };
    },
  };
}

export type Diagnoses = ReturnType<typeof createDiagnoses>;

const maxJobs = 2000;
const nothing: Diagnosis = { seen: undefined, kept: undefined, documents: [], done: () => undefined };

/** Reports whether a stored document has the fingerprints of a job. Returns true for documents of other kinds. */
export function isSoundFingerprints(found: string, body: unknown): boolean {
  if (found === keyKind) return typeof body === 'string' && body !== '';
  if (found !== kind) return true;
  // This cast is safe: any object can be read as a record of unknown values.
  const { job, known } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return typeof job === 'string' && Array.isArray(known);
}

function toLast({ known }: KnownOfJob): number {
  return known.at(-1)?.lastMs ?? 0;
}

/**
 * Returns a text that is equal for failures of the same kind with other values. Without the key, nobody can test whether a line
 * was in a log. Returns undefined if the lines have no content.
 */
export function toFingerprint(texts: readonly string[], key: string): string | undefined {
  const plain = texts.flatMap((text) => text.split('\n')).map(normalise);
  // Stack traces and repeated lines differ between failures of the same kind.
  const kept = new Set(plain.filter((line) => /[\p{L}]{2}/u.test(line) && !isFrame(line)));
  const content = kept.size > 0 ? [...kept] : plain.filter((line) => line !== '');
  if (content.length === 0) return undefined;
  return `v1:${createHmac('sha256', key).update(content.join('\n')).digest('hex').slice(0, 16)}`;
}

function isFrame(line: string): boolean {
  return /^(?:at [\w$.<]|File <quoted>, line|\.{3} <n> (?:more|common)|from <|\^+$)/.test(line);
}
