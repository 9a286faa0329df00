import type { ApiError } from './errors.ts';

const maxTries = 3;
const firstDelayMs = 200;
const maxDelayMs = 5000;

/** Computes the wait before the next try, with full jitter. Returns undefined if another try is useless. */
export function retryDelayMs(error: ApiError, tries: number, random: number): number | undefined {
  if (tries >= maxTries || error.details.unsent === true || !canPass(error)) return undefined;
  return random * Math.min(maxDelayMs, firstDelayMs * 2 ** tries);
}

/**
 * Reports whether an error may be temporary. A timeout leaves no time for another attempt. Status 500 concerns only one request.
 */
function canPass({ kind, details }: ApiError): boolean {
  if (kind === 'server') return details.status !== 500 && details.status !== 501;
  return kind === 'network' || kind === 'busy';
}

/** Reads `Retry-After`, in seconds or as a date, up to the limit. Returns undefined for an unreadable value. */
export function readRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const untilMs = /^\s*\d{1,9}\s*$/.test(value) ? nowMs + Number(value) * 1000 : Date.parse(value);
  return Number.isNaN(untilMs) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, untilMs - nowMs));
}

/** The maximum pause. A server that requests a longer pause gets a request after the maximum anyway. */
const maxRetryAfterMs = 300_000;
