import { isPieceOver, mapInPieces, type Pieces, sortInPieces } from '../../domain/pause.ts';
import { isRunning, type NodeState, type Progress, type StepState } from '../../domain/step-state.ts';
import { otherError } from './attribute-names.ts';
import { type Draft, findReason, hasFailed, hasFailedNode, type Outcome, type Timing, untimed } from './draft.ts';
import { incomplete, nodeFailure, toErrorType, toReasonText } from './failure-reason.ts';
import { comparePlaces, parseStepContext, type StepNames, type StepPlace } from './step-names.ts';

type Level = {
  /** The path of the parent step; empty at the top level. */
  readonly path: string;
  readonly names: StepNames;
  readonly serverNode: string | undefined;
};

type Drafted = { drafts: readonly Draft[]; notStarted: number };
type Placed = { step: StepState; context: string; place: StepPlace };

/** Drafts the spans of one level of steps and of all levels below, sorted by step number. */
export function* draftSteps(steps: readonly StepState[], level: Level): Pieces<Drafted> {
  if (steps.length === 0) return { drafts: [], notStarted: 0 };
  const found: Placed[] = [];
  for (const [index, step] of steps.entries()) {
    if (isPieceOver()) yield;
    found.push(toPlaced(step, index, level.path));
  }
  const placed = yield* sortInPieces(found, (left, right) => comparePlaces(left.place, right.place));
  const handlers = new Map(placed.filter(({ place }) => place.isHandler).map((it) => [it.place.number, it.step]));
  const begun = placed.filter(({ step }) => hasBegun(step));
  const drafts = yield* mapInPieces(begun, (it) =>
    draftStep(it, it.place.isHandler ? undefined : handlers.get(it.place.number), level),
  );
  return { drafts, notStarted: placed.length - begun.length };
}

function* draftStep({ step, context, place }: Placed, handler: StepState | undefined, level: Level): Pieces<Draft> {
  const name = level.names.nameOf(place.number, place.isHandler) ?? `step ${context}`;
  const names = level.names.below(place, step.workflow ?? step.perNode[0]?.workflow ?? []);
  const inside = { name, context, place, names, level };
  const nodes = yield* draftNodes(step, handler, inside);
  // The `workflow` of a job reference that runs for each node contains the runs in `perNode` again.
  const isPerNode = step.perNode.length > 0;
  const below = yield* draftSteps(isPerNode ? [] : (step.workflow ?? []), { ...level, path: context, names });
  const children = [...nodes.drafts, ...below.drafts];
  const own = { ...step, failureReason: step.failureReason ?? findServerReason(step, level) };
  return {
    key: { kind: 'step', path: context },
    name,
    task: { ...toTask(step, place), name, runId: context, node: undefined },
    outcome: toStepOutcome(own, children, handler?.condition === 'succeeded'),
    timing: toTiming(step),
    children,
    notStarted: nodes.notStarted + below.notStarted,
  };
}

type Inside = { name: string; context: string; place: StepPlace; names: StepNames; level: Level };

function* draftNodes(step: StepState, handler: StepState | undefined, inside: Inside): Pieces<Drafted> {
  const perNode = new Map(step.perNode.map((state) => [findNode(state) ?? '', state]));
  const plain = isOnServerAlone(step, inside.level) ? [] : step.nodes.filter(({ node }) => !perNode.has(node));
  const recovered = new Map(handler?.nodes.map(({ node, condition }) => [node, condition === 'succeeded']));
  const isRecovered = (node: string): boolean => recovered.get(node) ?? handler?.condition === 'succeeded';
  const all = [...plain, ...[...perNode].map(([node, state]) => ({ ...state, node }))];
  const begun = all.filter(hasBegun);
  const drafts = yield* mapInPieces(begun, (state) => draftNode(state, isRecovered(state.node), inside));
  return { drafts, notStarted: all.length - begun.length };
}

function* draftNode(state: NodeState | (NodeState & StepState), isRecovered: boolean, inside: Inside): Pieces<Draft> {
  const { name, context, place, names, level } = inside;
  const steps = 'workflow' in state ? (state.workflow ?? []) : [];
  const path = 'context' in state ? (state.context ?? context) : context;
  const below = yield* draftSteps(steps, { ...level, path, names });
  return {
    key: { kind: 'node', path: context, node: state.node },
    name: state.node,
    task: { ...toTask(state, place), name, runId: `${context}@${state.node}`, node: state.node },
    outcome: toStepOutcome(state, below.drafts, isRecovered),
    timing: toTiming(state),
    children: below.drafts,
    notStarted: below.notStarted,
  };
}

/** Returns the place of a step by its path; if the path is unreadable or of another level, by its position in the list. */
function toPlaced(step: StepState, index: number, path: string): Placed {
  const prefix = path === '' ? '' : `${path}/`;
  const places = step.context?.startsWith(prefix) === true ? parseStepContext(step.context) : undefined;
  const depth = (parseStepContext(path)?.length ?? 0) + 1;
  const place = places?.at(-1);
  if (step.context !== undefined && place !== undefined && places?.length === depth) {
    return { step, context: step.context, place };
  }
  const number = index + 1;
  return { step, context: `${prefix}${number}`, place: { number, isHandler: false, parameters: new Map() } };
}

function findNode({ context = '' }: StepState): string | undefined {
  return parseStepContext(context)?.at(-1)?.parameters.get('node');
}

/** Reports whether a step ran only on the server itself, which is not a target node. */
function isOnServerAlone({ isNodeStep, nodes }: StepState, { serverNode }: Level): boolean {
  return !isNodeStep && nodes.length === 1 && nodes[0]?.node === serverNode;
}

function findServerReason(step: StepState, level: Level): string | undefined {
  const state = isOnServerAlone(step, level) ? step.nodes[0] : undefined;
  return state?.condition === 'failed' ? state.failureReason : undefined;
}

function hasBegun(state: NodeState | StepState): boolean {
  const { condition, startedAtMs, durationMs } = state;
  if (condition === 'waiting' || condition === 'not-started') return false;
  if (condition !== 'aborted' || startedAtMs !== undefined || durationMs !== undefined) return true;
  // A server marks unfinished steps as aborted when it closes a state, even steps that never began.
  return 'nodes' in state && [...state.nodes, ...(state.workflow ?? []), ...state.perNode].some(hasBegun);
}

function toTask({ condition, hadHandler }: Progress, { isHandler }: StepPlace) {
  return {
    isHandler: isHandler || condition === 'running-handler' || hadHandler === true,
    nodeOutcome: condition === 'partial' || condition === 'mixed' ? condition : undefined,
  };
}

/** Returns the times of a step. The reported duration is exact; times are cut to whole seconds. */
function toTiming({ condition, startedAtMs, endedAtMs, durationMs: told }: Progress): Timing {
  if (isRunning(condition)) return { ...untimed, startMs: startedAtMs, isInferred: true, isOpen: true };
  const durationMs = told === undefined ? undefined : Math.round(told);
  if (durationMs === undefined)
    return { ...untimed, startMs: startedAtMs, endMs: endedAtMs, isInferred: endedAtMs === undefined };
  const startMs = startedAtMs ?? (endedAtMs === undefined ? undefined : endedAtMs - durationMs);
  const endMs = startMs === undefined ? undefined : startMs + durationMs;
  return { ...untimed, startMs, endMs, reportedEndMs: endedAtMs, durationMs, isInferred: endMs === undefined };
}

function toStepOutcome(progress: Progress, below: readonly Draft[], isRecovered: boolean): Outcome {
  return { ...toOutcome(progress, below, isRecovered), word: progress.failureReason, exitCode: progress.exitCode };
}

/** Computes the outcome of a step or node from its own state and the outcomes below it. */
function toOutcome(progress: Progress, below: readonly Draft[], isRecovered: boolean): Outcome {
  const plain = { errorType: undefined, reason: undefined, isRecovered: false };
  switch (progress.condition) {
    case 'succeeded':
      return { ...plain, result: 'success', why: 'succeeded' };
    case 'aborted':
      return { ...plain, result: 'cancellation', why: 'aborted' };
    case 'failed':
      return toFailure(progress.failureReason, below, { isRecovered, word: 'failed' });
    case 'partial':
    case 'mixed': {
      const { condition } = progress;
      // A step with one of these conditions may also be in a successful execution, so the steps and nodes below it decide.
      if (below.some(hasFailed)) return toFailure(undefined, below, { isRecovered, word: 'failed on some nodes' });
      return { ...plain, result: 'success', why: `${condition}, but no failure below it was final` };
    }
    case 'running':
    case 'running-handler':
      return { ...plain, result: 'error', errorType: incomplete, why: 'still running when the execution ended' };
    case 'unknown':
    case 'waiting':
    case 'not-started':
      return { ...plain, result: 'error', errorType: otherError, why: 'the state of the step is unknown' };
  }
}

function toFailure(
  given: string | undefined,
  below: readonly Draft[],
  { isRecovered, word }: { isRecovered: boolean; word: string },
): Outcome {
  const reason = toErrorType(given);
  const errorType = reason ?? findReason(below) ?? (hasFailedNode(below) ? nodeFailure : otherError);
  const text = toReasonText(errorType);
  const from = reason !== undefined ? text : below.some(hasFailed) ? `${text} below` : 'no reason given';
  const recovered = isRecovered ? ', recovered by its handler' : '';
  return { result: 'failure', errorType, reason, isRecovered, why: `${word}, ${from}${recovered}` };
}
