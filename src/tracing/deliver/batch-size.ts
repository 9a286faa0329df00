/** The largest size of one request, adapted to the sizes that get through. */
export type BatchSize = {
  readonly maxBytes: () => number;
  /** Called when a request got through: before long a larger one is tried. */
  readonly passed: () => void;
  /** Called when a request got lost; reports whether to try a smaller one, if it held more than one trace. */
  readonly lost: () => boolean;
  readonly shrinkFrom: (bytes: number) => void;
};

/**
 * Adapts the size to losses, because a proxy in front of the OTLP endpoint may drop every request that is too large, without
 * an answer. After some losses in a row the size is halved; successes double it again, later after each failed attempt.
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
