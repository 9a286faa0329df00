import type { Api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import type { ExecutionsObserver } from '../ledger/count-executions.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ProjectState, Skip } from '../ledger/project-state.ts';
import { readTotal } from './window-reader.ts';

type SkipsOptions = {
  readonly cache: Pick<LedgerCache, 'states' | 'update'>;
  readonly observe: Pick<ExecutionsObserver, 'skipped'>;
  readonly tell?: ((message: string) => void) | undefined;
};

/** Counts skipped executions in small steps, last in each round, so that it never delays counting. */
export function createSkips({ cache, observe, tell }: SkipsOptions) {
  const inVain = new Map<string, number>();

  async function note(project: string, skip: Skip, throughMs: number, runs: number | undefined): Promise<void> {
    let told: Skip | undefined;
    await cache.update(async () => {
      const state = cache.states.get(project);
      const [first, ...others] = state?.skips ?? [];
      if (state === undefined || first?.beginMs !== skip.beginMs) return undefined;
      told = {
        ...first,
        runs: (first.runs ?? 0) + (runs ?? 0),
        isUnknown: first.isUnknown === true || runs === undefined,
      };
      const rest = throughMs < first.endMs ? [{ ...told, beginMs: throughMs + 1 }] : [];
      return { states: [withSkips(state, [...rest, ...others])] };
    });
    if (told === undefined) return;
    inVain.delete(project);
    if (runs !== undefined && runs > 0) observe.skipped(skip.reason, runs);
    if (throughMs >= skip.endMs) say(project, told);
  }

  function say(project: string, { runs = 0, isUnknown = false, endMs }: Skip): void {
    if (isUnknown) {
      const until = new Date(endMs + 1).toISOString();
      tell?.(
        `${project}: executions that ended before ${until} were skipped; the server reported only ${runs} of them`,
      );
    } else if (runs > 0) {
      tell?.(`${project}: ${runs} executions were skipped because they ended before the catch-up limit`);
    }
  }

  async function countNext(api: Api, { project, skips: [skip] = [] }: ProjectState): Promise<void> {
    if (skip === undefined) return;
    const { beginMs, endMs } = skip;
    const throughMs = Math.min(endMs, beginMs + weekMs - 1);
    try {
      await note(project, skip, throughMs, await readTotal(api, project, { beginMs, endMs: throughMs }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // A request that was not sent is tried again next time.
      if (error.details.unsent === true || error.kind === 'unauthorized') throw error;
      const tries = (inVain.get(project) ?? 0) + 1;
      inVain.set(project, tries);
      if (tries >= maxTries) await note(project, skip, throughMs, undefined);
    }
  }

  return async (api: () => Api, mayGoOn: () => boolean): Promise<void> => {
    for (const { project } of cache.states.values()) {
      for (let asked = 0; asked < maxAtOnce && mayGoOn(); asked += 1) {
        const state = cache.states.get(project);
        if (state?.skips === undefined) break;
        await countNext(api(), state);
      }
    }
  };
}

function withSkips({ skips: _skips, ...state }: ProjectState, skips: readonly Skip[]): ProjectState {
  return skips.length === 0 ? state : { ...state, skips };
}

const weekMs = 7 * 86_400_000;
const maxAtOnce = 5;
const maxTries = 3;
