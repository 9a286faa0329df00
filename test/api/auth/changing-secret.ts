import type { SecretSource } from '../../../src/api/auth/credentials.ts';

type ChangingSecret = {
  readonly source: SecretSource;
  /** Sets the secret that the next read returns. */
  readonly replace: (value: string) => void;
  readonly lose: () => void;
  readonly rereads: () => number;
};

/** A secret in a file that another program writes. */
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
