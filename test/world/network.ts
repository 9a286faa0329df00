import type { Dispatcher } from 'undici';
import { answerDirectly, type DirectAnswer } from '../../simulator/direct.ts';
import type { Member } from '../../simulator/world/installation.ts';
import type { World as ServiceWorld } from '../../simulator/world/world.ts';
import type { ToDispatcher } from '../../src/api/wire/transport.ts';
import type { Dice } from './dice.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What the way to the service, and the service itself, are like at a moment. */
export type Weather = {
  way: 'open' | 'refused' | 'silent' | 'unavailable';
  /** Every answer takes this long, and up to this share longer; now and then much longer where there is a tail. */
  minMs: number;
  spread: number;
  tailShare: number;
  tailMs: number;
  /** Whose `Date` the answers carry. */
  date: 'own' | 'none' | 'proxy';
  proxyAheadMs: number;
  /** What the total of all executions says. */
  totals: 'true' | 'any' | 'none' | 'more';
  /** Some answers fail, by what. */
  failShare: number;
  failStatus: number;
  /** Questions that hold this in their path fail always. */
  brokenPath: RegExp | undefined;
  /** Questions that hold this in their path take this long. */
  slowPath: RegExp | undefined;
  slowMs: number;
  /** For how long who fails is asked to wait, in seconds. */
  retryAfter: string | undefined;
  /** Step states are those of a while ago, although the execution is over. */
  staleStates: boolean;
};

/** What is usual, and what lies over it now: the newest counts. */
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

/** A request as the network saw it; times are true times. */
export type Seen = {
  readonly path: string;
  readonly sentMs: number;
  /** What came back, or why nothing did. */
  readonly end: number | 'refused' | 'silent' | 'aborted';
};

type NetworkOptions = {
  readonly time: VirtualTime;
  readonly service: ServiceWorld;
  readonly climate: Climate;
  readonly dice: Dice;
  readonly onSent: (path: string) => void;
  readonly onEnd: (seen: Seen) => void;
  /** Lets the process that sends now do something later, or once it is no longer stopped; never after its end. */
  readonly toWake?: () => (work: () => void) => void;
  /** Called with the body of each answer that reached the daemon. */
  readonly onRead?: (path: string, body: string) => void;
};

/** The way from a daemon to the service: every answer takes its time, and they overtake one another. */
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
    // A silence that begins meanwhile does not end it.
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
      // The service looks into its database at some moment on the way.
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
  // This cast is safe: the transport gives plain names and texts.
  for (const [name, value] of Object.entries((headers ?? {}) as Record<string, string>))
    flat[name.toLowerCase()] = value;
  return flat;
}

type StaleState = { executionState?: string; completed?: boolean; endTime?: string | null; steps?: StaleState[] };

/** As another member's file still has it: the last step still runs. */
function toStale(said: DirectAnswer): DirectAnswer {
  if (said.status !== 200) return said;
  // This cast is safe: these are the fields that are changed, where they are there.
  const state = JSON.parse(said.body) as StaleState;
  Object.assign(state, { executionState: 'RUNNING', completed: false, endTime: null });
  const last = state.steps?.at(-1);
  if (last !== undefined) Object.assign(last, { executionState: 'RUNNING', endTime: null, duration: -1 });
  return { ...said, body: JSON.stringify(state) };
}
