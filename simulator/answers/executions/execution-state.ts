import {
  type Moment,
  momentOf,
  nodeMoment,
  type Progress,
  planOf,
  progressOf,
  wordFailure,
} from '../../engine/outcome.ts';
import type { StepRun, WorkflowRun } from '../../engine/plan.ts';
import type { Release } from '../../release.ts';
import type { Execution } from '../../world/installation.ts';
import type { Step } from '../../world/work.ts';
import { type Answer, type ApiRequest, missing, ok } from '../answer.ts';
import { toDate } from '../dates.ts';
import { openExecution, statusNow } from './execution.ts';

/** execution/{id}/state (API reference, "Execution state"). */
export function executionState(request: ApiRequest): Answer {
  const execution = openExecution(request);
  if ('status' in execution) return execution;
  if (statusNow(request, execution) === 'scheduled' || execution.end?.stored === 'missed') {
    return missing(request, 'Execution State ID', String(execution.id));
  }
  if (isPending(request, execution)) return ok({ error: 'pending' });
  const progress = progressOf(execution, request.world.playedMs);
  const setting: Setting = {
    progress,
    serverNode: execution.member.name,
    release: request.world.release,
    nodes: new Map(),
  };
  const workflow = toWorkflow(planOf(execution), '', setting);
  return ok({
    executionId: execution.id,
    serverNode: execution.member.name,
    ...workflow,
    nodes: Object.fromEntries(setting.nodes),
  });
}

/** Reports whether a state is pending. Other members have only stored states, from shortly after the end. */
function isPending({ world, member }: ApiRequest, execution: Execution): boolean {
  const { statePending, storageDelayMs } = world.settings;
  if (statePending === 'all' || statePending.has(execution.id)) return true;
  const storedAtMs = (execution.end?.visibleAtMs ?? Number.POSITIVE_INFINITY) + storageDelayMs;
  return execution.member !== member && world.playedMs < storedAtMs;
}

type Setting = {
  readonly progress: Progress;
  readonly serverNode: string;
  readonly release: Release;
  readonly nodes: Map<string, { stepctx: string; executionState: string }[]>;
};

function toWorkflow(run: WorkflowRun, prefix: string, setting: Setting): Record<string, unknown> {
  const moment = momentOf({ ...run, reason: undefined }, setting.progress);
  const { duration: _duration, ...times } = toTimes(moment, setting);
  return {
    ...times,
    completed: moment.endMs !== undefined || (setting.progress.final && moment.startMs === undefined),
    targetNodes: run.nodes,
    allNodes: run.nodes,
    stepCount: run.steps.length,
    steps: run.steps.map((step) => toStep(step, run.nodes, `${prefix}${step.number}`, setting)),
  };
}

function toStep(run: StepRun, targets: readonly string[], stepctx: string, setting: Setting): Record<string, unknown> {
  const moment = momentOf(run, setting.progress);
  const isReference = run.workflow !== undefined;
  const nodes = isReference && !run.step.nodeStep ? [] : run.step.nodeStep ? targets : [setting.serverNode];
  const nodeStates = nodes.map((node) => {
    const state = nodeMoment(run.nodes.get(run.step.nodeStep ? node : ''), setting.progress);
    const seen = setting.nodes.get(node) ?? [];
    setting.nodes.set(node, [...seen, { stepctx, executionState: state.state }]);
    return [node, { ...toTimes(state, setting), ...toFailure(state, run.step, setting) }] as const;
  });
  const perNode = [...run.perNode.keys()].map((node) => {
    const context = `${stepctx}@node=${escapeValue(node)}`;
    const state = toParameterState(run, node, context, setting);
    return [`node=${node}`, state] as const;
  });
  return {
    id: String(run.number),
    stepctx,
    nodeStep: run.step.nodeStep,
    ...toTimes(moment, setting),
    // Failures of steps that run on nodes are shown at the nodes.
    ...(run.step.nodeStep ? {} : toFailure(moment, run.step, setting, run.nodes.get('')?.handlerMs)),
    ...(nodeStates.length > 0 ? { nodeStates: Object.fromEntries(nodeStates) } : {}),
    ...(run.workflow === undefined
      ? {}
      : {
          hasSubworkflow: true,
          workflow: toWorkflow(run.workflow, `${stepctx}/`, quiet(setting, perNode.length > 0)),
        }),
    ...(perNode.length > 0 ? { parameterStates: Object.fromEntries(perNode) } : {}),
  };
}

function toParameterState(run: StepRun, node: string, stepctx: string, setting: Setting) {
  const workflow = run.perNode.get(node);
  const moment = nodeMoment(run.nodes.get(node), setting.progress);
  return {
    id: String(run.number),
    stepctx,
    parameters: { node },
    nodeStep: false,
    ...toTimes(moment, setting),
    ...toFailure(moment, run.step, setting),
    ...(workflow === undefined ? {} : { hasSubworkflow: true, workflow: toWorkflow(workflow, `${stepctx}/`, setting) }),
  };
}

/** The template of a reference that runs for each node has no nodes. */
function quiet(setting: Setting, isTemplate: boolean): Setting {
  return isTemplate ? { ...setting, nodes: new Map() } : setting;
}

function toTimes({ state, startMs, endMs }: Moment, { progress, release }: Setting) {
  const date = (ms: number | undefined) => (ms === undefined ? null : toDate(progress.toShown(ms)));
  const updatedMs = startMs === undefined ? undefined : (endMs ?? progress.cutMs);
  const duration = startMs === undefined ? -1 : Math.round((endMs ?? progress.cutMs) - startMs);
  return {
    executionState: state,
    startTime: date(startMs),
    updateTime: date(updatedMs),
    endTime: date(endMs),
    ...(release.asDocumented ? {} : { duration }),
  };
}

/** Returns the failure of a step. `meta` keeps the reason of a recovered failure. */
function toFailure({ state, reason }: Moment, step: Step, { progress, release }: Setting, handlerMs = Infinity) {
  if (reason === undefined) return {};
  const failure = wordFailure(reason, step, release);
  const { code } = failure;
  return {
    ...(state === 'SUCCEEDED' ? {} : { errorMessage: failure.message }),
    meta: {
      failureReason: failure.reason,
      ...(code === undefined ? {} : { resultCode: code }),
      ...(handlerMs <= progress.cutMs ? { handlerTriggered: 'true' } : {}),
    },
  };
}

function escapeValue(value: string): string {
  return value.replace(/[\\/@,=]/g, (character) => `\\${character}`);
}
