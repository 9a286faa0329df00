import type { Api, Client } from '../../api/client.ts';
import { projects } from '../../api/endpoints/projects.ts';
import { ApiError, isOfWholeServer } from '../../api/errors.ts';
import { type Rights, readRights } from '../../api/rights.ts';
import type { Config, ServerConfig } from '../../config/config.ts';
import type { Cancel, Clock } from '../../domain/clock.ts';
import type { ProvedRights } from '../../status/status.ts';
import { listPurposes, toServerPolicy } from './least-policy.ts';

/** Returns the rights of the token, and the minimal policy if the token has more rights. */
export async function proveRights(
  server: ServerConfig,
  api: Api,
  config: Config,
): Promise<Partial<Rights> & { readonly leastPolicy?: string }> {
  const listed = await api.get(projects).catch((error: unknown) => {
    // Errors of the whole server are rethrown, so that the rights are soon requested again.
    if (!(error instanceof ApiError) || isOfWholeServer(error)) throw error;
    return [];
  });
  const names = listed.map(({ name }) => name).filter(server.projects.isWanted);
  const proved = await readRights(api, listPurposes(config), names.slice(0, maxAskedProjects));
  const isMore = proved !== undefined && proved.excess.length > 0;
  return { ...proved, ...(isMore ? { leastPolicy: toServerPolicy(server, config).text } : {}) };
}

/** A few projects are enough, because rights are usually granted by patterns. */
const maxAskedProjects = 3;

export type RightsWatch = ReturnType<typeof watchRights>;

type WatchOptions = { readonly config: Config; readonly client: Client; readonly clock: Pick<Clock, 'after' | 'now'> };

/** Requests the rights soon after the start, then once a day, or every ten minutes until they are as needed. */
export function watchRights(server: ServerConfig, { config, client, clock }: WatchOptions) {
  const stopping = new AbortController();
  let proved: ProvedRights | undefined;
  let cancel: Cancel | undefined;

  async function ask(): Promise<void> {
    const api = client.within({ lane: 'normal', forMs: server.timeoutMs, signal: stopping.signal });
    try {
      const { rights, excess = [], leastPolicy } = await proveRights(server, api, config);
      proved = rights && { rights, excess, leastPolicy, atMs: clock.now() };
      const isAsNeeded = excess.length === 0 && rights?.every(({ may }) => may) !== false;
      schedule(isAsNeeded ? dayMs : soonMs);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      schedule(againMs);
    }
  }

  function schedule(inMs: number): void {
    if (!stopping.signal.aborted) cancel = clock.after(inMs, () => void ask());
  }

  return {
    start: () => schedule(firstMs),
    stop: (): void => {
      cancel?.();
      stopping.abort();
    },
    /** Returns the rights; undefined until they are known, and if the server does not report rights. */
    now: (): ProvedRights | undefined => proved,
  };
}

/** The first request follows the first polls. */
const firstMs = 60_000;
const soonMs = 600_000;
const againMs = 3_600_000;
const dayMs = 86_400_000;
