import type { Dialect } from '../dialect.ts';
import type { Transport, TransportAnswer } from '../wire/transport.ts';

/** A secret that can be read again: credentials rotate. */
export type SecretSource = { readonly reveal: () => string; readonly reread: () => Promise<SecretSource> };

export type AuthHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  /** Which credentials these are, to be told when they were refused. */
  readonly generation: number;
};

/** One way to authenticate. */
export type Credentials = {
  /** Returns the headers to send; a session logs in here if it has to. */
  readonly authorize: (
    transport: Transport,
    dialect: Dialect | undefined,
    signal?: AbortSignal,
  ) => Promise<AuthHeaders>;
  /** Called when these credentials were refused; true where another try has something new to offer. */
  readonly renew: (refused: number) => Promise<boolean>;
  /** Reads the secret again, whether or not it was refused; true if it has changed, and rejects if it cannot be used. */
  readonly refresh: () => Promise<boolean>;
  /** Called with every answer: a session's cookie changes. */
  readonly noteAnswer?: (answer: TransportAnswer) => void;
  /** Reports whether an answer without a word from the API says that the session is not admitted to it. */
  readonly isSession: boolean;
};

/** Keeps a secret and counts its changes. If the file cannot be read just now, the old secret stays. */
export function createRereadable(first: SecretSource) {
  let current = first;
  let generation = 0;
  let reading: Promise<void> | undefined;

  /** Reads it again; true where it has changed, and rejects where it cannot be used. */
  async function refresh(): Promise<boolean> {
    const fresh = await current.reread();
    const isNew = fresh.reveal() !== current.reveal();
    if (isNew) generation += 1;
    current = fresh;
    return isNew;
  }

  async function read(): Promise<void> {
    try {
      await refresh();
    } catch {
      // A refused secret stays refused; the poll that asked reports it.
    }
  }

  return {
    value: () => current.reveal(),
    refresh,
    generation: () => generation,
    /** Reads the secret again, once for all that ask at the same time; true where it is not the refused one any more. */
    reread: async (refused: number) => {
      if (refused === generation) {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        await reading;
      }
      return refused !== generation;
    },
  };
}
