import type { Dispatcher } from 'undici';
import { answerDirectly, type DirectAnswer } from '../../simulator/direct.ts';
import type { Member } from '../../simulator/world/installation.ts';
import type { World as ServiceWorld } from '../../simulator/world/world.ts';
import type { ToDispatcher } from '../../src/api/wire/transport.ts';
import type { Dice } from './dice.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The condition of the network and of the service at the moment. */
export type Weather = {
  way: 'open' | 'refused' | 'silent' | 'unavailable';
  /**
   * The duration of a response: at least `minMs`, plus up to `spread` times as much. A share `tailShare` of the
   * responses takes up to `tailMs` longer.
   */
  minMs: number;
  spread: number;
  tailShare: number;
  tailMs: number;
  /** The origin of the `Date` header of responses. */
  date: 'own' | 'none' | 'proxy';
  proxyAheadMs: number;
  /** The total of all executions that the server reports. */
  totals: 'true' | 'any' | 'none' | 'more';
  /** The share of responses that fail, and how. */
  failShare: number;
  failStatus: number;
  /** A path whose requests always fail. */
  brokenPath: RegExp | undefined;
  /** A path with slow requests, and their duration. */
  slowPath: RegExp | undefined;
  slowMs: number;
  /** The seconds in the Retry-After header of failed responses. */
  retryAfter: string | undefined;
  /** True if the server still reports old states of steps after an execution has ended. */
  staleStates: boolean;
};

/** The usual conditions, and temporary changes; the newest change has priority. */
export type Climate = { readonly usual: Weather; readonly fronts: Partial<Weather>[] };

export function toWeather({ usual, fronts }: Climate): Weather {
  return Object.assign({}, usual, ...fronts) as Weather;
}

export const fairWeather: Weather = {
  way: 'open',
  minMs: 5,
  spread: 1,
  tailShare: 0,
  tailMs: 0,
  date: 'own',
  proxyAheadMs: 0,
  totals: 'true',
  failShare: 0,
  failStatus: 500,
  brokenPath: undefined,
  slowPath: undefined,
  slowMs: 0,
  retryAfter: undefined,
  staleStates: false,
};

/** A request, with its true times. */
type Seen = {
  readonly path: string;
  readonly sentMs: number;
  /** The status of the response, or the reason why there was none. */
  readonly end: number | 'refused' | 'silent' | 'aborted';
};

type NetworkOptions = {
  readonly time: VirtualTime;
  readonly service: ServiceWorld;
  readonly climate: Climate;
  readonly dice: Dice;
  readonly onSent: (path: string) => void;
  readonly onEnd: (seen: Seen) => void;
  /** Returns a function that schedules work of the current sender, as long as the process of the sender runs. */
  readonly toWake?: () => (work: () => void) => void;
  /** Called with the body of each response that the daemon has received. */
  readonly onRead?: (path: string, body: string) => void;
};

/** The network between a daemon and the service. Each response has its own duration, so responses may overtake each other. */
export function createNetwork(options: NetworkOptions): ToDispatcher {
  const { time, service, climate, dice, onSent, onEnd, onRead, toWake = () => (work) => work() } = options;

  function drawMs(path: string): number {
    const weather = toWeather(climate);
    if (weather.slowPath?.test(path) === true) return weather.slowMs + dice.next();
    const isLong = weather.tailShare > 0 && dice.chance(weather.tailShare);
    const plainMs = weather.minMs * (1 + weather.spread * dice.next()) + dice.next();
    return isLong ? plainMs + weather.tailMs * dice.next() : plainMs;
  }

  function pickMember(): Member {
    const alive = service.members.filter((member) => member.alive);
    const [first, ...others] = alive.length > 0 ? alive : service.members;
    if (first === undefined) throw new Error('a service has members');
    return dice.pick([first, ...others]);
  }

  function answer(path: string, headers: Readonly<Record<string, string>>): DirectAnswer {
    const weather = toWeather(climate);
    const isBroken = weather.brokenPath?.test(path) === true;
    // Earlier requests continue.
    const isUnavailable = climate.fronts.some(({ way }) => way === 'unavailable');
    if (isUnavailable) return { status: 503, headers: {}, body: 'no server is available' };
    if (isBroken || (weather.failShare > 0 && dice.chance(weather.failShare)))
      return {
        status: weather.failStatus,
        headers: {
          'content-type': 'text/html',
          ...(weather.retryAfter === undefined ? {} : { 'retry-after': weather.retryAfter }),
        },
        body: '<html>out of order</html>',
      };
    const said = answerDirectly(service, { path, headers, member: pickMember() });
    if (weather.totals !== 'true' && path.includes('/executions/metrics?') && said.status === 200) {
      const { total, ...others } = JSON.parse(said.body) as { total: number };
      const lie = { any: dice.between(0, 50), none: 0, more: total + dice.between(1, 5) }[weather.totals];
      return { ...said, body: JSON.stringify({ ...others, total: lie }) };
    }
    return weather.staleStates && /\/execution\/\d+\/state/.test(path) ? toStale(said) : said;
  }

  function toHeaders({ headers: { date, ...others } }: DirectAnswer): Record<string, string> {
    const weather = toWeather(climate);
    if (weather.date === 'none' || date === undefined) return others;
    if (weather.date === 'own') return { date, ...others };
    return { date: new Date(Math.floor(time.nowMs() + weather.proxyAheadMs)).toUTCString(), ...others };
  }

  return () => ({
    dispatch: (request, handler) => {
      const path = String(request.path);
      const sentMs = time.nowMs();
      const wake = toWake();
      let ended = false;
      const end = (how: Seen['end']): boolean => {
        if (ended) return false;
        ended = true;
        onEnd({ path, sentMs, end: how });
        return true;
      };
      const controller = {
        abort: () => void end('aborted'),
        pause: () => undefined,
        resume: () => undefined,
      } as unknown as Dispatcher.DispatchController;
      onSent(path);
      handler.onRequestStart?.(controller, undefined);
      const tookMs = drawMs(path);
      const { way } = toWeather(climate);
      if (way === 'silent') return true;
      if (way === 'refused') {
        time.after(Math.min(5, tookMs), () =>
          wake(() => {
            const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
            if (end('refused')) handler.onResponseError?.(controller, error);
          }),
        );
        return true;
      }
      // The service reads its database at a random moment of the request.
      time.after(tookMs * dice.next(), () => {
        const said = answer(path, toFlat(request.headers));
        const headers = toHeaders(said);
        time.at(sentMs + tookMs, () =>
          wake(() => {
            if (!end(said.status)) return;
            if (said.status === 200) onRead?.(path, said.body);
            handler.onResponseStart?.(controller, said.status, headers);
            if (said.body !== '') handler.onResponseData?.(controller, Buffer.from(said.body));
            handler.onResponseEnd?.(controller, {});
          }),
        );
      });
      return true;
    },
    destroy: async () => undefined,
  });
}

function toFlat(headers: unknown): Record<string, string> {
  const flat: Record<string, string> = {};
  // This cast is safe: the transport sets names and texts.
  for (const [name, value] of Object.entries((headers ?? {}) as Record<string, string>))
    flat[name.toLowerCase()] = value;
  return flat;
}

type StaleState = { executionState?: string; completed?: boolean; endTime?: string | null; steps?: StaleState[] };

/** Returns an old state, in which the last step is running. */
function toStale(said: DirectAnswer): DirectAnswer {
  if (said.status !== 200) return said;
  // This cast is safe: only these fields are changed, and only if they exist.
  const state = JSON.parse(said.body) as StaleState;
  Object.assign(state, { executionState: 'RUNNING', completed: false, endTime: null });
  const last = state.steps?.at(-1);
  if (last !== undefined) Object.assign(last, { executionState: 'RUNNING', endTime: null, duration: -1 });
  return { ...said, body: JSON.stringify(state) };
}
