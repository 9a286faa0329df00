import type { Api } from '../api/client.ts';
import { executionMode, systemInfo } from '../api/endpoints/system.ts';
import { type ExecutionMode, executionModes } from '../domain/execution-mode.ts';
import type { Memory } from '../domain/memory.ts';
import { gauge, stateSet } from '../metrics/family.ts';
import { defineCollector } from './collector.ts';

/** Whether the server runs anything at all. */
export const executionModeCollector = defineCollector({
  name: 'execution-mode',
  help: 'Execution mode, active or passive, and when it last changed',
  every: '15s',
  on: true,
  vital: true,
  reads: [executionMode, systemInfo],
  metrics: {
    mode: stateSet(
      'automation_execution_mode',
      'Execution mode: passive servers run nothing [system/executions/status, before v32 system/info].',
      'mode',
      executionModes,
    ),
    change: gauge(
      'automation_execution_mode_change_timestamp_seconds',
      'When the execution mode was last seen to change; absent until it did [system/executions/status].',
    ),
  },
  fetch: readMode,
  remember: rememberChange,
  map: (mode, { mode: state, change }, { changedAtMs }) => [
    ...state.rows(mode),
    ...change.rows(typeof changedAtMs === 'number' ? changedAtMs / 1000 : undefined),
  ],
});

async function readMode(api: Api): Promise<ExecutionMode | undefined> {
  if (await api.supports(executionMode)) return api.get(executionMode);
  return (await api.get(systemInfo)).executionMode;
}

/** The first mode ever seen is no change: nobody knows since when it holds. */
function rememberChange(mode: ExecutionMode | undefined, before: Memory, nowMs: number): Memory {
  if (mode === undefined || mode === before.mode) return before;
  return before.mode === undefined ? { mode } : { mode, changedAtMs: nowMs };
}
