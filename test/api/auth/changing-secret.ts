import type { SecretSource } from '../../../src/api/auth/credentials.ts';

export type ChangingSecret = {
  readonly source: SecretSource;
  /** What the next reread finds. */
  readonly replace: (value: string) => void;
  /** What the next reread stumbles over. */
  readonly lose: () => void;
  readonly rereads: () => number;
};

/** A secret in a file that somebody else writes. */
export function createChangingSecret(first: string): ChangingSecret {
  let stored: string | undefined = first;
  let rereads = 0;
  const toSource = (value: string): SecretSource => ({
    reveal: () => value,
    reread: async () => {
      rereads += 1;
      if (stored === undefined) throw new Error('the file is not there');
      return toSource(stored);
    },
  });
  return {
    source: toSource(first),
    replace: (value) => {
      stored = value;
    },
    lose: () => {
      stored = undefined;
    },
    rereads: () => rereads,
  };
}
