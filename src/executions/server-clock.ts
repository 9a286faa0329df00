import type { Api } from '../api/client.ts';
import { systemInfo } from '../api/endpoints/system.ts';

type Clock = { readonly now: () => number; readonly ticks: () => number };

/** The server's time: as its answer says, else reckoned from ours and from how far the two were apart. */
export function createServerClock(clock: Clock): (api: Api, answeredAtMs: number | undefined) => Promise<number> {
  let skew: { readonly ms: number; readonly untilTicks: number } | undefined;
  return async (api, answeredAtMs) => {
    if (answeredAtMs !== undefined) return answeredAtMs;
    if (skew === undefined || clock.ticks() >= skew.untilTicks) {
      const { answer, midRequestMs } = await api.getTimed(systemInfo);
      skew = { ms: (answer.timestampMs ?? midRequestMs) - midRequestMs, untilTicks: clock.ticks() + knownForMs };
    }
    return clock.now() + skew.ms;
  };
}

const knownForMs = 300_000;
