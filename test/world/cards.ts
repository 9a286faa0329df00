import { minuteMs } from '../support/durations.ts';
import {
  anyClock,
  type Card,
  denseMs,
  lasting,
  leave,
  leaveOut,
  mood,
  ofPlace,
  ownClock,
  permit,
  serverClock,
  setDisabled,
  toFloodRows,
  weather,
} from './card-kinds.ts';
import type { Dice } from './dice.ts';
import { type PlayedCard, toPaceMs } from './plan.ts';
import { addJobTo, addPlace, deleteEnded, finishOne, type Scene } from './scene.ts';

/** Every card by its name; each card is one problem. */
const cards = {
  kill: (scene, { forMs }) => scene.operator.kill(Math.min(forMs, 30_000)),
  stop: (scene, { forMs }) => scene.operator.stop(Math.min(forMs, 45_000)),
  absence: (scene, { forMs }) => scene.operator.kill(forMs * 2),
  refuse: weather('down', { way: 'refused' }),
  silence: weather('down', { way: 'silent' }),
  unavailable: weather('down', { way: 'unavailable' }),
  'too many requests': weather('server', { failShare: 0.15, failStatus: 429, retryAfter: '6' }),
  slow: weather('slow', { minMs: 1500 }),
  tail: weather('slow', { tailShare: 0.1, tailMs: 8000 }),
  'some fail': weather('server', { failShare: 0.3, failStatus: 502 }),
  'some break': weather('server', { failShare: 0.2, failStatus: 500 }),
  'broken running list': weather('server', { brokenPath: /executions\/running/ }),
  'broken system info': weather('server', { brokenPath: /system\/info/ }),
  'no date': weather('clock', { date: 'none' }),
  'stale states': weather('states', { staleStates: true }),
  // The pages need more time than the deadline allows.
  'dense and slow': (scene, played) => {
    ofPlace((_scene, place) => {
      place.denseUntilMs = scene.time.nowMs() + denseMs(scene);
      const dice = scene.dice.of(`dense ${place.name} ${scene.time.nowMs()}`);
      for (let count = 0; count < 4500; count += 1) finishOne(scene, place, dice, dice.next() * 55_000);
    })(scene, played);
    weather('slow', { minMs: 1500, spread: 0.5, tailShare: 0 })(scene, { ...played, forMs: denseMs(scene) });
  },
  // The absence is longer than the catch-up limit. After the absence, the server answers requests for totals of long
  // windows too slowly.
  'long absence': (scene, played) => {
    const awayMs = scene.plan.catchUpLimitMs + 3 * minuteMs;
    if (awayMs > 60 * minuteMs) return;
    scene.operator.kill(awayMs);
    const forMs = awayMs + 30 * minuteMs;
    weather('slow', { slowPath: /[?&]max=1(&|$)/, slowMs: 60_000 })(scene, { ...played, forMs });
  },
  'new project': (scene) => void addPlace(scene.service, scene.estate, scene.plan),
  'busy new project': (scene, { atMs }) => {
    const dice = scene.dice.of(`new projects ${atMs}`);
    for (let made = 0; made < 3; made += 1)
      scene.time.after(dice.next() * 60_000, () => addBusyPlace(scene, dice, true));
  },
  // The runs are not listed as running, so only the next list of projects shows the project.
  newcomer: (scene, { atMs }) => addBusyPlace(scene, scene.dice.of(`newcomer ${atMs}`), false),
  'delete project': ofPlace((scene, place) => {
    // Rows that are deleted before they are read test nothing.
    if (scene.estate.places.length < 2 || (place.denseUntilMs ?? 0) > scene.time.nowMs()) return;
    leave(scene, place);
    scene.service.control.deleteProject(place.name);
    scene.truth.gone.set(place.name, scene.time.nowMs());
  }),
  'rename project': ofPlace((scene, place) => {
    // Old executions may still be unread.
    finishOne(scene, place, scene.dice.of(`rename ${place.name}`));
    scene.time.after(80_000, () => {
      const before = place.name;
      if (!scene.service.world.projects.has(before)) return;
      place.name = `${before}r`;
      endPatterns(scene, ({ name }) => `${name}/`.startsWith(`${before}/`));
      place.namedAtMs = scene.time.nowMs();
      scene.service.control.renameProject(before, place.name);
      scene.truth.gone.set(before, scene.time.nowMs());
    });
  }),
  disable: ofPlace((scene, place, played) => {
    for (let count = 0; count < 3; count += 1) finishOne(scene, place, scene.dice.of(`disable ${place.name} ${count}`));
    lasting('sight', () => {
      setDisabled(scene, place, true);
      return () => setDisabled(scene, place, false);
    })(scene, played);
  }),
  hide: ofPlace((scene, place, { forMs }) => {
    const trouble = { what: 'sight' as const, fromMs: scene.time.nowMs(), toMs: Number.POSITIVE_INFINITY };
    scene.truth.troubles.push(trouble);
    const { hiddenProjects } = scene.truth;
    hiddenProjects.push(place.name);
    permit(scene);
    scene.time.after(forMs, () => {
      hiddenProjects.length = 0;
      permit(scene);
      trouble.toMs = scene.time.nowMs();
      // The credentials did not see a renamed project under its old name, so the project looks new.
      for (const { name, namedAtMs } of scene.estate.places)
        if (namedAtMs > trouble.fromMs - 3 * minuteMs - toPaceMs(scene.plan))
          scene.truth.listedFrom.set(name, trouble.toMs);
    });
  }),
  // Runs that are read again after a restore may have the earlier name of their job, or no name.
  'delete job': ofPlace((scene, place) => {
    scene.truth.lostAt.push(scene.time.nowMs());
    const [job] = place.jobs.splice(0, 1);
    if (job !== undefined) scene.service.control.deleteJob(job);
    addJobTo(scene.service, scene.estate, place, scene.plan);
  }),
  'rename job': ofPlace((scene, place, { atMs }) => {
    scene.truth.lostAt.push(scene.time.nowMs());
    const [job] = place.jobs;
    const of = scene.service.world.jobs.get(job ?? '');
    if (job === undefined || of === undefined) return;
    const { name } = of.definition;
    endPatterns(scene, (left) => left.of === of);
    scene.truth.renamed.push({ jobId: job, name, atMs: scene.time.nowMs() });
    scene.service.control.changeJob(job, { name: `renamed at ${Math.floor(atMs)}` });
  }),
  flood: ofPlace((scene, place, { forMs }) => {
    const dice = scene.dice.of(`flood ${place.name} ${scene.time.nowMs()}`);
    const rows = toFloodRows(scene.plan);
    for (let count = 0; count < rows; count += 1) finishOne(scene, place, dice, dice.next() * Math.min(forMs, 60_000));
  }),
  'busy everywhere': (scene) => {
    for (const place of scene.estate.places) finishOne(scene, place, scene.dice.of(`busy ${place.name}`));
  },
  import: ofPlace((scene, place) => {
    // With a clock more than a day behind, a run looks imported.
    if (scene.service.world.members.some(({ skewMs }) => skewMs < -1440 * minuteMs)) return;
    const dice = scene.dice.of(`import ${scene.time.nowMs()}`);
    for (let count = 0; count < 20; count += 1) {
      const endedAtMs = Math.floor(scene.time.nowMs() - (26 + dice.next() * 90) * 3_600_000);
      const startedAtMs = endedAtMs - dice.between(500, 90_000);
      const id = scene.service.control.addFinished(place.name, { startedAtMs, endedAtMs });
      scene.truth.imports.add(`${id} ${startedAtMs}`);
    }
  }),
  retention: (scene, { forMs }) => {
    // Usually, only executions that were readable for long enough are deleted.
    const minMs = scene.dice.of(`retention ${scene.time.nowMs()}`).chance(0.25) ? forMs : scene.plan.maxDelayMs;
    deleteEnded(scene, scene.time.nowMs() - Math.max(forMs, minMs));
  },
  'new database': (scene) => {
    scene.service.play();
    scene.truth.lostAt.push(scene.time.nowMs());
    scene.truth.newDatabases.push({ atMs: scene.time.nowMs(), ended: scene.service.world.history.length });
    for (const place of scene.estate.places) place.sinceMs = scene.time.nowMs();
    scene.service.control.restart({ newDatabase: true });
  },
  'restart of the service': (scene, played) => {
    lasting('server', () => {
      scene.service.control.restart({ downForMs: Math.min(played.forMs, 60_000) });
      return () => undefined;
    })(scene, played);
  },
  passive: lasting('server mode', ({ service }) => {
    service.control.setExecutionMode('passive');
    return () => service.control.setExecutionMode('active');
  }),
  'late ends': lasting('clock', ({ service }) => {
    service.control.setSaveDelay(45_000);
    return () => service.control.setSaveDelay(0);
  }),
  'long runs': lasting('clock', ({ service }) => {
    service.control.setConditions({ durationFactor: 30 });
    return () => service.control.setConditions({ durationFactor: 1 });
  }),
  'server clock ahead': serverClock(660_000),
  'server clock behind': serverClock(-660_000),
  'own clock ahead': ownClock(540_000.75),
  'own clock behind': ownClock(-540_000.25),
  'full disk': lasting('disk', ({ operator }) => {
    operator.fillDisk(true);
    return () => operator.fillDisk(false);
  }),
  upgrade: (scene, { forMs }) => scene.operator.upgrade(Math.min(forMs, 30_000)),
  'restored copy': (scene, { forMs }) => scene.operator.restoreCopy(Math.min(forMs, 60_000)),
  reload: (scene) => scene.operator.reload({}),
  'exclude project': ofPlace((scene, place, played) => {
    const project = scene.service.world.projects.get(place.name);
    if (project !== undefined) leaveOut(project, 'configuration', place.name)(scene, played);
  }),
  'exclude job': ofPlace((scene, { jobs }, played) => {
    const job = scene.service.world.jobs.get(jobs[0] ?? '');
    if (job === undefined) return;
    const { group = '', name } = job.definition;
    leaveOut(job, 'configuration', [job.project.name, ...(group === '' ? [] : [group]), name].join('/'))(scene, played);
  }),
  // The limit is low: the series of runs without a job may already use all of it.
  'fewer series': lasting('sight', ({ operator, estate, truth, time, dice }) => {
    truth.fewerSinceMs ??= time.nowMs();
    operator.reload({ maxSeries: dice.of(`series ${time.nowMs()}`).pick([40, 100 * estate.places.length]) });
    return () => operator.reload({ maxSeries: 1_000_000 });
  }),
  'nobody counts': lasting('sight', ({ operator }) => {
    operator.reload({ isCounting: false });
    return () => operator.reload({ isCounting: true });
  }),
  hold: (scene, { forMs }) => scene.operator.hold(forMs),
  'small pages': lasting('slow', ({ service, time, dice }) => {
    service.control.configure({ maxRows: dice.of(`pages ${time.nowMs()}`).pick([20, 100]) });
    return () => service.control.configure({ maxRows: Number.POSITIVE_INFINITY });
  }),
  'hide job': ofPlace((scene, { jobs }, played) => {
    const job = scene.service.world.jobs.get(jobs[0] ?? '');
    if (job !== undefined) leaveOut(job, 'permission', job.id)(scene, played);
  }),
  'totals lie': lasting('sight', ({ service }) => {
    service.control.configure({ totalOffset: 1 });
    return () => service.control.configure({ totalOffset: 0 });
  }),
  'pages shift': lasting('sight', ({ service }) => {
    service.control.configure({ shiftPages: 1 });
    return () => service.control.configure({ shiftPages: 0 });
  }),
  'states pend': lasting('states', ({ service }) => {
    service.control.configure({ statePending: 'all' });
    return () => service.control.configure({ statePending: new Set() });
  }),
  'collector refuses': mood('refused'),
  'collector is silent': mood('silent'),
  'collector is busy': mood('busy'),
  'collector loses answers': mood('takes and loses the answer'),
  // From then on, the gateway refuses large bodies.
  'collector resets large bodies': ({ collector }) => {
    collector.mood.way = 'resets large bodies';
  },
  poison: ({ collector, service }) => {
    const id = service.world.nextId;
    collector.poison(String(id));
  },
  'any server clock': anyClock('all'),
  'any member clock': anyClock('one'),
  'starts to come': ofPlace((scene, place) => {
    const dice = scene.dice.of(`starts to come ${scene.time.nowMs()}`);
    const endedAtMs = Math.floor(scene.time.nowMs());
    // A one-time run is aborted before its start, on a server that does not mark such runs.
    const run = { startedAtMs: endedAtMs + dice.between(1, 40) * 86_400_000, endedAtMs, status: 'aborted' } as const;
    scene.service.control.addFinished(place.name, { ...run, skewMs: scene.service.world.members[0]?.skewMs ?? 0 });
  }),
  'starts in 1970': ofPlace((scene, place) => {
    const startedAtMs = scene.dice.of(`starts in 1970 ${scene.time.nowMs()}`).between(0, 100_000);
    scene.service.control.addFinished(place.name, { startedAtMs, endedAtMs: Math.floor(scene.time.nowMs()) });
  }),
} as const satisfies Record<string, Card>;

/** A pattern with an old name no longer excludes anything. */
function endPatterns({ truth, time }: Scene, isOld: (left: Scene['truth']['excluded'][number]) => boolean): void {
  for (const left of truth.excluded)
    if (left.by === 'configuration' && isOld(left)) left.toMs = Math.min(left.toMs, time.nowMs());
}

export type CardName = keyof typeof cards;

/** Cards that are never drawn at random: only arranged worlds and worlds of days contain them. */
const arranged: readonly CardName[] = ['busy everywhere', 'newcomer', 'passive'];

/** Cards with wrong times; some worlds also have one of them. */
const timeCards: readonly CardName[] = ['any server clock', 'any member clock', 'starts to come', 'starts in 1970'];

// This cast is safe: the list contains the keys of `cards`.
export const allCards = (Object.keys(cards) as CardName[]).filter(
  (card) => ![...arranged, ...timeCards].includes(card),
);

/** A project in which a run is always in progress. */
function addBusyPlace(scene: Scene, dice: Dice, hasJobs: boolean): void {
  const place = addPlace(scene.service, scene.estate, scene.plan, hasJobs);
  for (let count = 0; count < 8; count += 1)
    scene.time.after(count * 1500 + 100, () => {
      if (scene.service.world.projects.has(place.name)) finishOne(scene, place, dice.of(`${place.name} ${count}`));
    });
}

export function playCard(scene: Scene, played: PlayedCard): void {
  scene.note(`card ${played.card}`);
  cards[played.card](scene, played);
}
