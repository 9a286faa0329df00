import type { Clock } from '../domain/clock.ts';

/** Content of a file that can be read again. */
export type Refreshable = {
  readonly name: string;
  /** Takes over what the files hold now; true where it is new, and rejects with what makes it unusable. */
  readonly refresh: () => Promise<boolean>;
};

export type FileLookOptions = {
  readonly files: readonly Refreshable[];
  readonly clock: Pick<Clock, 'ticks'>;
  readonly observe: (name: string, change: FileChange) => void;
};

export type FileChange = { readonly result: 'taken' } | { readonly result: 'rejected'; readonly says: string };

/**
 * Looks for changed files at each call, but at most every ten seconds, without making the caller wait. If the new content
 * cannot be used the old one stays, which is reported when it is found a second time: a certificate and its key are not
 * replaced in the same moment.
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
