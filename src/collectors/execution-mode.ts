import { formatRights } from '../api/access-policy.ts';
import type { Api } from '../api/client.ts';
import { executionMode, systemInfo } from '../api/endpoints/system.ts';
import { type ExecutionMode, executionModes } from '../domain/execution.ts';
import type { Memory } from '../domain/memory.ts';
import { gauge, stateSet } from '../metrics/family.ts';
import { defineCollector, type News } from '../schedule/collector.ts';

export const executionModeCollector = defineCollector({
  name: 'execution-mode',
  help: 'Execution mode, active or passive, and when it last changed',
  every: '15s',
  on: true,
  vital: true,
  perMember: true,
  reads: [executionMode, systemInfo],
  metrics: {
    mode: stateSet(
      'automation_execution_mode',
      'Execution mode of the server; a passive server runs no jobs; absent if several members at one address have different modes [system/executions/status, before v32 system/info].',
      { label: 'mode', states: executionModes },
    ),
    change: gauge(
      'automation_execution_mode_change_timestamp_seconds',
      'Time of the last observed change of the execution mode; absent until the first change [system/executions/status].',
    ),
  },
  fetch: readMode,
  off: ({ isRestricted }) => (isRestricted ? restricted : undefined),
  remember: rememberChange,
  news: toNews,
  map: ({ mode }, { mode: state, change }, { memory: { changedAtMs } }) => [
    ...state.rows(mode),
    ...change.rows(typeof changedAtMs === 'number' ? changedAtMs / 1000 : undefined),
  ],
});

const restricted = {
  reason: 'denied',
  message: `these credentials see the release of the server and nothing else; allow ${formatRights(systemInfo.allowedBy)}`,
} as const;

type Read = { mode: ExecutionMode | undefined; isRestricted: boolean };

/** Reads the mode. System information is of one member, but all members have the same mode. */
async function readMode(api: Api): Promise<Read> {
  const { hidesMembers } = api.server();
  if (!hidesMembers && (await api.supports(executionMode)))
    return { mode: await api.get(executionMode), isRestricted: false };
  const { executionMode: mode, isRestricted } = await api.get(systemInfo);
  return { mode: hidesMembers ? api.server().mode : mode, isRestricted };
}

/** Stores the last change of the mode. The first known mode is no change, because its start is unknown. */
function rememberChange({ mode }: Read, before: Memory, nowMs: number): Memory {
  if (mode === undefined || mode === before.mode) return before;
  return before.mode === undefined ? { mode } : { mode, changedAtMs: nowMs };
}

/** The first known mode is logged only if it is passive. */
function toNews({ mode, changedAtMs }: Memory, before: Memory): News | undefined {
  if (mode === before.mode || (before.mode === undefined && mode === 'active')) return undefined;
  const { changedAtMs: beganMs } = before;
  const isKnown = typeof changedAtMs === 'number' && typeof beganMs === 'number';
  const after = isKnown ? { afterSeconds: Math.round((changedAtMs - beganMs) / 1000) } : {};
  return mode === 'passive'
    ? { level: 'warn', message: 'server is passive and runs nothing', ...after }
    : { level: 'info', message: 'server is active again', ...after };
}
