/** Lets a few in at once; the others wait, who came first before who came later. */
export type Gate = {
  /** Resolves to the function that leaves again; it may be called more than once. */
  readonly enter: () => Promise<() => void>;
};

export function createGate(places: number): Gate {
  const waiting: (() => void)[] = [];
  let free = places;

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    enter: async () => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isIn = true;
      return () => {
        if (isIn) leave();
        isIn = false;
      };
    },
  };
}
