import { setSkew } from '../../simulator/world/installation.ts';
import { minuteMs } from '../support/durations.ts';
import type { Weather } from './network.ts';
import type { PlayedCard } from './plan.ts';
import type { Place, Scene, Trouble } from './scene.ts';

export type Card = (scene: Scene, played: PlayedCard) => void;

/** A card that starts a problem, and ends it after the duration of the card. */
export function lasting(what: Trouble, begin: (scene: Scene, played: PlayedCard) => () => void, byMs?: number): Card {
  return (scene, played) => {
    const trouble = { what, fromMs: scene.time.nowMs(), toMs: Number.POSITIVE_INFINITY, ...(byMs && { byMs }) };
    scene.truth.troubles.push(trouble);
    const end = begin(scene, played);
    scene.time.after(played.forMs, () => {
      end();
      trouble.toMs = scene.time.nowMs();
    });
  };
}

export function weather(what: Trouble, change: Partial<Weather>): Card {
  return lasting(what, ({ weather: { fronts } }) => {
    fronts.push(change);
    return () => {
      fronts.splice(fronts.indexOf(change), 1);
    };
  });
}

export function mood(way: Scene['collector']['mood']['way']): Card {
  return lasting('collector', ({ collector }) => {
    collector.mood.way = way;
    return () => {
      collector.mood.way = 'takes';
    };
  });
}

function toPlace(scene: Scene, { atMs }: PlayedCard): Place | undefined {
  const { places } = scene.estate;
  return places[Math.floor(atMs) % Math.max(1, places.length)];
}

export function ofPlace(act: (scene: Scene, place: Place, played: PlayedCard) => void): Card {
  return (scene, played) => {
    const place = toPlace(scene, played);
    const project = place === undefined ? undefined : scene.service.world.projects.get(place.name);
    if (place !== undefined && project !== undefined && !project.disabled) act(scene, place, played);
  };
}

export function leave(scene: Scene, place: Place): void {
  scene.estate.places.splice(scene.estate.places.indexOf(place), 1);
}

/** The longest time until a busy project has been read, including a margin. */
export function denseMs({ plan }: Pick<Scene, 'plan'>): number {
  return plan.maxDelayMs + 8 * minuteMs;
}

/** The number of rows of a flood. If the steps of each execution are read, the flood is small. */
export function toFloodRows({ size, traces }: Scene['plan']): number {
  if (size === 'flood') return 4000;
  return size === 'small' && traces !== 'off' ? 120 : 700;
}

export function setDisabled({ service: { world, control } }: Scene, place: Place, disabled: boolean): void {
  if (world.projects.has(place.name)) control.changeProject(place.name, { disabled });
}

/** Restores all permissions. */
export function permit({ service, estate, truth }: Scene): void {
  const { hiddenProjects } = truth;
  const shown = estate.places.flatMap(({ name }) => (hiddenProjects.includes(name) ? [] : [name]));
  const projects = hiddenProjects.length === 0 ? ('*' as const) : shown;
  const hiddenJobs = listOpen(truth, 'permission').map(({ name }) => name);
  service.control.addToken({
    token: service.token,
    policy: { projects, events: projects, jobs: projects, hiddenJobs },
  });
}

type LeftOut = Scene['truth']['excluded'][number];

function listOpen({ excluded }: Scene['truth'], by: LeftOut['by']): LeftOut[] {
  return excluded.filter((each) => each.by === by && each.toMs === Number.POSITIVE_INFINITY);
}

/** Excludes a project or job for a while, by configuration or by permissions. */
export function leaveOut(of: LeftOut['of'], by: LeftOut['by'], name: string): Card {
  // Other jobs of the project are read as usual.
  return lasting('definition' in of ? 'slow' : 'sight', (scene) => {
    const { truth, time, operator } = scene;
    const change = (): void => {
      const now = listOpen(truth, 'configuration');
      const toNames = (isJob: boolean): string[] =>
        now.flatMap((each) => ('definition' in each.of === isJob ? [each.name] : []));
      if (by === 'permission') permit(scene);
      else operator.reload({ exclude: toNames(false), excludeJobs: toNames(true) });
    };
    const leftOut = { of, by, name, fromMs: time.nowMs(), toMs: Number.POSITIVE_INFINITY };
    truth.excluded.push(leftOut);
    change();
    return () => {
      leftOut.toMs = Math.min(leftOut.toMs, time.nowMs());
      change();
    };
  });
}

export function serverClock(byMs: number): Card {
  return (scene, played) => setClocks(scene, played, scene.service.world.members, byMs);
}

/** Moves the clock of one or all members by between a second and a month, and later sets it back. */
export function anyClock(which: 'all' | 'one'): Card {
  return (scene, played) => {
    const dice = scene.dice.of(`clock ${played.atMs}`);
    const { members } = scene.service.world;
    const one = dice.between(0, members.length - 1);
    // An execution that ended a month ago is pruned as soon as it is counted.
    const byMs = dice.chance(0.5) ? dice.pick([...steps, 30 * dayMs]) : -dice.pick(steps);
    scene.note(`clock of ${which} by ${byMs}`);
    setClocks(scene, played, which === 'all' ? members : members.slice(one, one + 1), byMs);
  };
}

const dayMs = 24 * 60 * minuteMs;
const steps = [1000, 45_000, 20 * minuteMs, 150 * minuteMs, dayMs + 120 * minuteMs, 2 * dayMs] as const;

function setClocks(
  scene: Scene,
  played: PlayedCard,
  members: Scene['service']['world']['members'],
  byMs: number,
): void {
  lasting(
    'step',
    ({ service }) => {
      service.play();
      for (const member of members) setSkew(member, member.skewMs + byMs, service.world.playedMs);
      return () => {
        service.play();
        for (const member of members) setSkew(member, member.skewMs - byMs, service.world.playedMs);
      };
    },
    byMs,
  )(scene, played);
}

export function ownClock(byMs: number): Card {
  return lasting('clock', ({ hands }) => {
    hands.wallOffsetMs += byMs;
    return () => {
      hands.wallOffsetMs -= byMs;
    };
  });
}
