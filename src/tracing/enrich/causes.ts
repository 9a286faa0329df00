import type { Diagnoses } from '../../diagnosis/lines/diagnoses.ts';
import type { Cause, CauseKey, FailedRun } from '../../domain/failure-class.ts';
import type { LedgerDocument } from '../../state/ledger.ts';

const kind = 'cause';

/** The maximum number of causes of a server, and the maximum length of a cause as JSON. */
export const maxCauses = 500;
export const maxCauseLength = 3000;

/** Stores the causes of the latest executions that did not succeed, across restarts. */
export function createCauses() {
  /** The stored documents, sorted by start, oldest first. */
  const known = new Map<string, string>();

  return {
    load: (documents: readonly LedgerDocument[]) => {
      const found = documents.flatMap(({ kind: each, key, body = '' }) =>
        each === kind ? [[key, body] as const] : [],
      );
      for (const [key, body] of found.sort(([one], [other]) => toStart(one) - toStart(other))) known.set(key, body);
    },
    of: (run: CauseKey) => {
      const body = known.get(toKey(run));
      // This cast is safe: only `note` writes these documents.
      return body === undefined ? undefined : (JSON.parse(body) as Cause);
    },
    lastFailureOf: (job: string) => {
      const name = JSON.stringify(job);
      let last: FailedRun | undefined;
      for (const body of known.values()) {
        if (!body.includes(name)) continue;
        // This cast is safe: only `note` writes these documents.
        const { failure } = JSON.parse(body) as Cause;
        if (failure?.job === job && failure.endedAtMs >= (last?.endedAtMs ?? Number.NEGATIVE_INFINITY)) last = failure;
      }
      return last;
    },
    /** Returns the last failure with an id, and the start of the failure. */
    failureOf: (id: number): FailureOfRun | undefined => {
      const [key = '', body = '{}'] = [...known].findLast(([each]) => each.endsWith(` ${id}`)) ?? [];
      // This cast is safe: only `note` writes these documents.
      const { failure } = JSON.parse(body) as Partial<Cause>;
      return failure && { failure, startedAtMs: toStart(key) };
    },
    /** Returns the change to commit with the trace of an execution. Call `done` after the commit. */
    note: (run: CauseKey, cause: Cause | undefined) => {
      const body = JSON.stringify(cause);
      if (cause === undefined || body.length > maxCauseLength) return { documents: [], done: () => undefined };
      const key = toKey(run);
      const tooMany = known.size + Number(!known.has(key)) - maxCauses;
      const gone = tooMany > 0 ? [...known.keys()].filter((each) => each !== key).slice(0, tooMany) : [];
      return {
        documents: [...gone.map((each) => ({ kind, key: each, body: undefined })), { kind, key, body }],
        done: () => {
          for (const each of gone) known.delete(each);
          known.set(key, body);
        },
      };
    },
  };
}

export type Causes = ReturnType<typeof createCauses>;

export type FailureOfRun = { readonly failure: FailedRun; readonly startedAtMs: number };

/** Returns a function that reads a cause. Older failures of the job may be known by now, so its failures are counted again. */
export function createLookup(causes: Causes, diagnoses: Pick<Diagnoses, 'refresh'> | undefined) {
  function refresh(failure: FailedRun | undefined): FailedRun | undefined {
    const { job, seen } = failure ?? {};
    if (failure === undefined || job === undefined || seen === undefined) return failure;
    return { ...failure, seen: diagnoses?.refresh(job, seen, failure.endedAtMs) ?? seen };
  }

  return {
    causeOf: (run: CauseKey): Cause | undefined => {
      const cause = causes.of(run);
      return cause && { ...cause, failure: refresh(cause.failure) };
    },
    failureOf: causes.failureOf,
    lastFailureOf: (job: string): FailedRun | undefined => refresh(causes.lastFailureOf(job)),
  };
}

/** Reports whether a stored document is a cause. Returns true for documents of other kinds. */
export function isSoundCause(found: string, body: unknown): boolean {
  if (found !== kind) return true;
  // This cast is safe: any object can be read as a record of unknown values.
  const { why, facts } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return typeof why === 'string' && Array.isArray(facts);
}

function toKey({ id, startedAtMs }: CauseKey): string {
  return `${startedAtMs} ${id}`;
}

function toStart(key: string): number {
  return Number(key.split(' ')[0]);
}
