/** How many bytes are gathered into one request, as far as requests of that size come through. */
export type BatchSize = {
  readonly maxBytes: () => number;
  /** A request came through: before long more is tried at once. */
  readonly passed: () => void;
  /** One got lost; whether less is to be tried, where it held more than one trace. */
  readonly lost: () => boolean;
  readonly shrinkFrom: (bytes: number) => void;
};

/**
 * Something in front of a collector may drop every request that is too large for it, without an answer. After some losses
 * in a row half as much is sent; what comes through lets it double again, the later the more often that failed.
 */
export function createBatchSize(fullBytes: number): BatchSize {
  let maxBytes = fullBytes;
  let lost = 0;
  let passed = 0;
  let passesToGrow = 1;
  /** More is sent than what is known to come through. */
  let isProbing = false;

  return {
    maxBytes: () => maxBytes,
    passed: () => {
      lost = 0;
      if (maxBytes >= fullBytes) {
        passesToGrow = 1;
        isProbing = false;
        return;
      }
      passed += 1;
      if (passed < passesToGrow) return;
      passed = 0;
      maxBytes = Math.min(fullBytes, 2 * maxBytes);
      isProbing = true;
    },
    lost: () => {
      lost += 1;
      return isProbing || lost >= lossesToShrink;
    },
    shrinkFrom: (bytes) => {
      if (isProbing) passesToGrow = Math.min(mostPasses, 2 * passesToGrow);
      isProbing = false;
      passed = 0;
      maxBytes = Math.max(1, Math.floor(Math.min(bytes, maxBytes) / 2));
    },
  };
}

const lossesToShrink = 5;
/** At a request a second, a quarter of an hour. */
const mostPasses = 1024;
