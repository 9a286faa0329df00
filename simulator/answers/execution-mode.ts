import { refuseSystem } from './access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { flag, ok } from './answer.ts';
import { denied } from './errors.ts';

/** system/executions/status: before v36 a passive server answers 503 (API reference, "States and transitions"). */
export function executionStatus(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal !== undefined) return refusal;
  const { executionMode } = request.world;
  const as503 = executionMode === 'passive' && (request.version < 36 || flag(request, 'passiveAs503'));
  return { status: as503 ? 503 : 200, json: { executionMode } };
}

export function setExecutionMode(mode: 'active' | 'passive') {
  return (request: ApiRequest): Answer => {
    if (!request.caller.policy.systemAdmin) {
      return denied(request, mode === 'active' ? 'enable_executions' : 'disable_executions', 'Resource', 'system');
    }
    request.world.executionMode = mode;
    return ok({ executionMode: mode });
  };
}
