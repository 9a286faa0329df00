import { setTimeout as pause } from 'node:timers/promises';

/** Calls the function until it succeeds; after the limit it throws the last error. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  { limitMs = 30_000, everyMs = 50 }: { readonly limitMs?: number; readonly everyMs?: number } = {},
): Promise<Answer> {
  const endMs = Date.now() + limitMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > endMs) throw error;
      await pause(everyMs);
    }
  }
}
