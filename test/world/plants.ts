/** A fault that is put into the daemon on purpose: some text of a file becomes another. */
export type Plant = {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Seeds that are known to find it. */
  readonly seeds: readonly number[];
};

export const plants: readonly Plant[] = [];
