import { toAge, toDuration, toTime } from './ages.ts';
import type { CollectorStatus, ServerStatus, Status, TargetStatus } from './status.ts';

/** What can be wrong, worst first. */
export const problemKinds = ['down', 'refused', 'passive', 'failing', 'late', 'denied', 'partial', 'waiting'] as const;
export type ProblemKind = (typeof problemKinds)[number];

export type Problem = {
  readonly kind: ProblemKind;
  readonly server: string;
  readonly member?: string;
  readonly collector?: string;
  /** A sentence for someone who reads nothing else. */
  readonly text: string;
};

/** Everything that is wrong, the worst first, and among equals in the order of the page. */
export function findProblems({ servers, atMs }: Status): readonly Problem[] {
  const problems = servers.flatMap((server) => [
    ...findIn(server, { server: server.name }, atMs),
    ...server.members.flatMap((member) => [...findIn(member, { server: server.name, member: member.name }, atMs)]),
    ...findDenied(server),
  ]);
  return problemKinds.flatMap((kind) => problems.filter((problem) => problem.kind === kind));
}

/** Why all is well, or the worst that is not. */
export function toHeadline({ servers }: Status, [worst]: readonly Problem[]): string {
  if (worst !== undefined) return `${worst.text}.`;
  const running = servers.flatMap(toTargets).flatMap((target) => target.collectors.filter(isRunning));
  const who = servers.length === 1 ? (servers[0]?.name ?? '') : `all ${servers.length} servers`;
  const isOne = servers.length === 1;
  const mayRun = servers.flatMap(toTargets).some(({ executionMode }) => executionMode === 'active');
  const answers = `${who} ${isOne ? 'answers' : 'answer'}${mayRun ? ` and ${isOne ? 'is' : 'are'} allowed to run jobs` : ''}`;
  return `All is well: ${answers}, and ${running.length} collectors are up to date.`;
}

function toTargets(server: ServerStatus): readonly TargetStatus[] {
  return [server, ...server.members];
}

function isRunning({ result }: CollectorStatus): boolean {
  return result === 'success';
}

type Place = Pick<Problem, 'server' | 'member'>;

function* findIn(target: TargetStatus, place: Place, nowMs: number): Generator<Problem> {
  const { state, sinceMs, message, executionMode, executionModeSinceMs, collectors } = target;
  const name = place.member === undefined ? place.server : `Member ${place.member} of ${place.server}`;
  const why = message === undefined ? '' : `: ${message}`;
  if (state === 'waiting') yield { kind: 'waiting', ...place, text: `${name} has not been asked yet` };
  if (state === 'refused') {
    const text = `${name} refuses the credentials${toSince(sinceMs, nowMs)}: missing, wrong or expired`;
    yield { kind: 'refused', ...place, text };
    return;
  }
  if (state === 'down') {
    yield { kind: 'down', ...place, text: `${name} gives no usable answer${toSince(sinceMs, nowMs)}${why}` };
    return;
  }
  if (executionMode === 'passive') {
    const text = `${name} is passive and runs nothing${toSince(executionModeSinceMs, nowMs)}`;
    yield { kind: 'passive', ...place, text };
  }
  for (const collector of collectors) yield* findInCollector(collector, name, place, nowMs);
}

function* findInCollector(status: CollectorStatus, of: string, place: Place, nowMs: number): Generator<Problem> {
  const { name: collector, result, sinceMs, message = '', lastRunAtMs, everyMs } = status;
  const where = { ...place, collector };
  if (result === 'failed') {
    const text = `${collector} of ${of} fails${toSince(sinceMs, nowMs)}: ${message}`;
    yield { kind: 'failing', ...where, text };
  } else if (result === 'success' && lastRunAtMs !== undefined && nowMs - lastRunAtMs > toPatienceMs(everyMs)) {
    const text = `${collector} of ${of} is late: it last ended ${toAge(lastRunAtMs, nowMs)} and should every ${toDuration(everyMs)}`;
    yield { kind: 'late', ...where, text };
  } else if (result === 'success' && message !== '') {
    yield { kind: 'partial', ...where, text: `${collector} of ${of} is not complete: ${message}` };
  }
}

/** One sentence a server: one policy mends them all. */
function* findDenied(server: ServerStatus): Generator<Problem> {
  const denied = toTargets(server).flatMap(({ collectors }) => collectors.filter(({ reason }) => reason === 'denied'));
  const names = [...new Set(denied.map(({ name }) => name))];
  if (names.length === 0) return;
  const text = `${server.name} does not allow these credentials to read ${toList(names)}`;
  yield { kind: 'denied', server: server.name, text };
}

/** After so long its numbers go away. */
function toPatienceMs(everyMs: number): number {
  return Math.max(3 * everyMs, 60_000);
}

function toSince(sinceMs: number | undefined, nowMs: number): string {
  return sinceMs === undefined ? '' : ` since ${toTime(sinceMs, nowMs)} (${toAge(sinceMs, nowMs)})`;
}

function toList(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
