import { setImmediate as nextTurn } from 'node:timers/promises';
import { toListingMs } from '../../simulator/answers/answer.ts';
import { createClock } from '../../simulator/clock.ts';
import { answerDirectly, type DirectAnswer, type DirectRequest } from '../../simulator/direct.ts';
import type { Fault } from '../../simulator/faults.ts';
import { createService, type Simulator, type SimulatorOptions } from '../../simulator/simulator.ts';
import { tellTruth } from '../../simulator/truth.ts';
import type { Member } from '../../simulator/world/installation.ts';
import { ApiError } from '../../src/api/errors.ts';
import type { Transport } from '../../src/api/wire/transport.ts';

export type DirectSimulator = Pick<Simulator, 'token' | 'control' | 'advance' | 'truth'> & {
  readonly requests: () => readonly Asked[];
  /** The time that a real server would need for the requests. */
  readonly spentMs: () => number;
  /** A transport to the service that takes no time. */
  readonly transport: Transport;
};

export type DirectOptions = Omit<SimulatorOptions, 'onRequest'> & {
  readonly onRequest?: ((asked: Asked) => void) | undefined;
};

type Asked = { readonly path: string; readonly query: string; listed?: number; costMs?: number };

/** A simulated service without a socket, whose clock stands still. */
export function createDirectSimulator({ onRequest, ...options }: DirectOptions): DirectSimulator {
  const clock = createClock(undefined, 'free');
  const { world, faults, control, token, play } = createService(options, clock);
  const asked: Asked[] = [];
  let spentMs = 0;
  let turn = 0;

  /** Uses the running members in turn, like a load balancer. */
  function nextMember(): Member {
    const alive = world.members.filter((member) => member.alive);
    const member = alive[turn++ % Math.max(1, alive.length)] ?? world.members[0];
    if (member === undefined) throw new Error('a service has members');
    return member;
  }

  function answer(request: Omit<DirectRequest, 'member'>): DirectAnswer {
    const [path = '', query = ''] = request.path.split('?');
    const one: Asked = { path: decodeURI(path), query };
    asked.push(one);
    onRequest?.(one);
    const fault = faults.list().find((each) => new RegExp(each.path ?? '').test(path));
    if (fault !== undefined) return toFaulty(fault);
    const made = answerDirectly(world, { ...request, member: nextMember() });
    one.listed = made.listed ?? 0;
    one.costMs = made.costMs ?? 0;
    spentMs += one.costMs;
    return made;
  }

  return {
    token,
    control,
    requests: () => asked,
    spentMs: () => spentMs,
    truth: () => tellTruth(world),
    advance: (ms) => {
      clock.advance(ms);
      play();
    },
    transport: {
      get: async ({ path, headers, apiEndpoint, timeoutMs = Number.POSITIVE_INFINITY }) => {
        await nextTurn();
        const made = answer({ path, headers });
        if (toListingMs(made) > timeoutMs) throw new ApiError('no answer in time', { kind: 'timeout', apiEndpoint });
        return { ...made, cookies: [] };
      },
      postForm: () => Promise.reject(new Error('a form needs a socket')),
      toOwnPath: () => undefined,
      close: async () => {},
    },
  };
}

function toFaulty({ kind, body, status, times, everyNth }: Fault): DirectAnswer {
  if (times !== undefined || everyNth !== undefined) throw new Error('a fault that comes and goes needs a socket');
  if (kind === 'hang') throw new ApiError('no answer in time', { kind: 'timeout', apiEndpoint: '' });
  if (kind === 'garbage') return { status: 200, headers: { 'content-type': 'application/json' }, body: body ?? '{"' };
  if (kind === 'status') return { status: status ?? 500, headers: {}, body: body ?? '' };
  throw new Error(`the fault ${kind} needs a socket`);
}
