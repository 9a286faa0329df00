import type { Clock } from '../domain/clock.ts';

/** A file whose content can be read again. */
export type Refreshable = {
  readonly name: string;
  /** Reads the files again. Resolves to true if the content is new. Rejects if the content cannot be used. */
  readonly refresh: () => Promise<boolean>;
};

type FileLookOptions = {
  readonly files: readonly Refreshable[];
  readonly clock: Pick<Clock, 'ticks'>;
  readonly observe: (name: string, change: FileChange) => void;
};

export type FileChange = { readonly result: 'taken' } | { readonly result: 'rejected'; readonly says: string };

/**
 * Returns a function that looks for changed files, at most every ten seconds, without delaying the caller. New content
 * that cannot be used is ignored. Unusable content is reported when it is found twice: a certificate and its key are
 * replaced one after the other.
 */
export function createFileLook({ files, clock, observe }: FileLookOptions): () => void {
  const doubts = new Map<string, { says: string; isSaid: boolean }>();
  let lookedTicks = clock.ticks();
  let isLooking = false;

  async function lookAt({ name, refresh }: Refreshable): Promise<void> {
    try {
      if (await refresh()) observe(name, { result: 'taken' });
      doubts.delete(name);
    } catch (error) {
      const says = error instanceof Error ? error.message : String(error);
      const before = doubts.get(name);
      const isSeenAgain = before?.says === says;
      if (isSeenAgain && !before.isSaid) observe(name, { result: 'rejected', says });
      doubts.set(name, { says, isSaid: isSeenAgain });
    }
  }

  async function lookAtAll(): Promise<void> {
    isLooking = true;
    for (const each of files) await lookAt(each);
    isLooking = false;
  }

  return () => {
    if (isLooking || clock.ticks() - lookedTicks < everyMs) return;
    lookedTicks = clock.ticks();
    void lookAtAll();
  };
}

const everyMs = 10_000;
