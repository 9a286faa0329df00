import type { Api } from '../../api/client.ts';
import { execution as executionEndpoint } from '../../api/endpoints/execution.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import type { Wait } from '../deliver/pause.ts';
import type { Detail } from '../plan/detail.ts';
import { gatherSteps, type Workflows } from './gather.ts';

type AskOptions = { detail: Detail; wait: Wait };

/** Requests a finished execution with its steps, as the enricher does. Returns undefined while the execution runs. */
export async function askForExecution(
  api: Api,
  id: number,
  { detail, wait }: AskOptions,
): Promise<SpanSource | undefined> {
  const execution = await api.get(executionEndpoint, { path: { id } });
  if (execution.endedAtMs === undefined) return undefined;
  const workflows: Workflows = { read: (_jobId, ask) => ask() };
  for (let tries = 1; ; tries += 1) {
    const isLastTry = tries === maxTries;
    const { source, isPending } = await gatherSteps(api, execution, {
      detail,
      isDiagnosed: false,
      readsLogs: false,
      workflows,
      isLastTry,
    });
    if (!isPending) return source;
    // The first request makes the server load a state that was no longer in its memory.
    if (isLastTry) return { ...source, degraded: 'seal_timeout' };
    await wait(betweenTriesMs, new AbortController().signal);
  }
}

const maxTries = 4;
const betweenTriesMs = 1000;
