import { conditionPlants } from './plants-of-conditions.ts';

/** A fault for the daemon: a change of the text of source files. */
export type Plant = {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** The options of a world that reveals the fault. */
  readonly shownBy: string;
};

export type Patch = { readonly file: string; readonly find: string; readonly replace: string };

const oneDeadline: Patch = {
  file: 'src/api/client.ts',
  find: 'const untilTicks = wholeMs === undefined ? undefined : clock.ticks() + wholeMs;',
  replace: 'const untilTicks = clock.ticks() + Math.min(wholeMs ?? forMs, forMs);',
};

const wholeOrNothing: Patch = {
  file: 'src/executions/reading/take-in.ts',
  find: 'const mayAdvance = advance !== undefined && (',
  replace: 'const mayAdvance = part.rest.length === 0 && advance !== undefined && (',
};

export const plants: readonly Plant[] = [
  {
    name: 'fractions of a millisecond',
    patches: [
      {
        file: 'src/executions/reading/server-clock.ts',
        find: 'const nowMs = Math.floor(isDoubtful ? reckonedMs : toldMs);',
        replace: 'const nowMs = isDoubtful ? reckonedMs : toldMs;',
      },
      {
        file: 'src/api/endpoint.ts',
        find: `query.append(name, typeof each === 'number' ? toWholeNumber(endpoint.name, name, each) : String(each));`,
        replace: 'query.append(name, String(each));',
      },
    ],
    shownBy: '--seed=6 --cards=server_clock_behind@147671+240000 --length=216000 --projects=1 --traces=off',
  },
  {
    name: 'a window is read whole or not at all',
    patches: [oneDeadline, wholeOrNothing],
    shownBy: '--seed=8 --cards=dense_and_slow@514500+10000 --length=528000 --projects=1 --traces=off',
  },
  {
    name: 'the last day of an idle project is read at once',
    patches: [
      oneDeadline,
      wholeOrNothing,
      {
        file: 'src/executions/reading/project-reading.ts',
        find: 'return !hasShown && pages < maxUnshownPages;',
        replace: 'return !hasShown || pages < 1_000_000;',
      },
    ],
    shownBy: '--seed=8 --cards=dense_and_slow@514500+10000 --length=528000 --projects=1 --traces=off',
  },
  {
    name: 'our own limits are faults of the server',
    patches: [
      {
        file: 'src/executions/reading/round-faults.ts',
        find: 'if (error.details.isOwnLimit === true) {',
        replace: 'if (error.details.isOwnLimit !== true && unasked.length > 0) {',
      },
    ],
    shownBy: '--seed=6 --cards= --length=300000 --projects=16 --traces=nodes',
  },
  {
    name: 'a shared list is dated now',
    patches: [
      {
        file: 'src/executions/reading/watched-projects.ts',
        find: 'Math.floor(nowMs - Math.max(0, ticks - askedTicks))',
        replace: 'Math.floor(nowMs + 0 * Math.max(0, ticks - askedTicks))',
      },
    ],
    shownBy:
      '--seed=12 --cards=newcomer@213470+60000,newcomer@240710+60000,newcomer@272888+60000,newcomer@301600+60000,newcomer@331109+60000,newcomer@362365+60000 --length=384000 --projects=2 --traces=off',
  },
  {
    name: 'facts of jobs that are gone stay',
    patches: [
      {
        file: 'src/executions/reading/job-lists.ts',
        find: 'changed.push({ ...rest, goneSinceMs: nowMs });',
        replace: 'void rest;',
      },
    ],
    shownBy: '--seed=34 --cards=rename_job@300000+10000 --length=480000 --projects=1 --traces=off',
  },
  {
    name: 'what is skipped is counted first',
    patches: [
      {
        file: 'src/executions/round.ts',
        find: 'await runLimited(planReads(plan)',
        replace: 'await found.countSkips(api, () => true);\n  await runLimited(planReads(plan)',
      },
      {
        file: 'src/executions/open-round.ts',
        find: 'if (tries >= maxTries) await note',
        replace: 'throw error;\n      if (tries >= maxTries) await note',
      },
    ],
    shownBy: '--seed=9',
  },
  {
    name: 'a renamed project begins at the last list',
    patches: [
      {
        file: 'src/executions/reading/plan-projects.ts',
        find: 'Math.min(listedBeginMs, ...readThrough)',
        replace: 'Math.min(listedBeginMs, ...readThrough.slice(0, 0))',
      },
    ],
    shownBy: '--seed=6 --cards=rename_project@250000+240000 --length=300000 --projects=2 --traces=root',
  },
  {
    name: 'restored series are held at 0',
    patches: [
      {
        file: 'src/executions/ledger/restore-gap.ts',
        find: 'cell.isReleased ? [] : [{ ...cell, isReleased: true }],',
        replace: 'cell.isReleased ? [] : [],',
      },
      { file: 'src/executions/ledger/count-executions.ts', find: 'isShown: isRestored', replace: 'isShown: false' },
    ],
    shownBy: '--seed=20',
  },
  {
    name: 'a stale state is sealed',
    patches: [
      {
        file: 'src/domain/step-state.ts',
        find: `if (isCompleted === false || isRunning(condition) || (condition === 'waiting' && isCompleted !== true)) return false;`,
        replace: 'if (isCompleted !== undefined || condition !== undefined) return true;',
      },
    ],
    shownBy: '--seed=45 --cards=stale_states@94589+120000 --length=216000 --projects=1 --traces=nodes',
  },
  {
    name: 'nothing is shown on a full disk',
    patches: [
      {
        file: 'src/executions/series/show.ts',
        find: '.then(() => undefined, toError);',
        replace: '.then(() => undefined);',
      },
    ],
    shownBy: '--seed=105 --cards=full_disk@344088+1200000 --length=456000 --projects=1 --traces=off',
  },
  {
    name: 'facts of an older run are left out',
    patches: [
      {
        file: 'src/executions/counting/job-facts.ts',
        find: `lastSuccessMs: ending === 'succeeded' ? latest(run.endedAtMs, before?.lastSuccessMs) : before?.lastSuccessMs,`,
        replace: `lastSuccessMs: isAfter(run, before) && ending === 'succeeded' ? run.endedAtMs : before?.lastSuccessMs,`,
      },
    ],
    shownBy: '--seed=2 --cards= --length=168000 --projects=1 --traces=off',
  },
  {
    name: 'a clock that was ahead leaves its mark',
    patches: [
      {
        file: 'src/executions/round.ts',
        find: '(await found.rewind({ ...time, ownMs })) ?? time.reachedMs;',
        replace: 'time.nowMs < 0 ? await found.rewind({ ...time, ownMs }) : undefined;',
      },
    ],
    shownBy:
      '--seed=233 --cards=server_clock_ahead@155453+120000,busy_new_project@231173+45000 --length=240000 --projects=1 --traces=off',
  },
  {
    name: 'a long round shows nothing',
    patches: [
      {
        file: 'src/executions/series/show.ts',
        find: 'return Math.max(3 * (everyMs + Math.max(...lateMs)), minValidMs);',
        replace: 'return Math.max(3 * everyMs, minValidMs);',
      },
      {
        file: 'src/executions/series/show.ts',
        find: 'if (underWay === undefined && clock.ticks() - shownTicks >= 1.5 * everyMs) await show(found, round);',
        replace: 'void [found, round];',
      },
    ],
    shownBy:
      '--seed=96 --cards=busy_everywhere@137413+180000,slow@180000+180000 --length=216000 --projects=120 --traces=off',
  },
  {
    name: 'no overlap',
    patches: [
      {
        file: 'src/executions/reading/plan-reads.ts',
        find: 'const overlapFromMs = fromMs - overlapMs - leaptMs;',
        replace: 'const overlapFromMs = fromMs;',
      },
    ],
    shownBy: '--seed=1 --cards= --length=168000 --projects=1 --traces=off',
  },
  {
    name: 'released before it is kept',
    patches: [
      {
        file: 'src/executions/ledger/upkeep.ts',
        find: 'await cache.update(async () => ({ cells: part.flatMap((key) => toReleased(cache, key)) }));',
        replace:
          'for (const key of part) for (const cell of toReleased(cache, key)) cache.totals.cells.set(key, cell);\n    await cache.update(async () => ({ cells: part.flatMap((key) => toReleased(cache, key)) }));',
      },
    ],
    shownBy: '--seed=4 --cards=full_disk@97572+45000,kill@135278+120000 --length=180000 --projects=1 --traces=off',
  },
  {
    name: 'shown before it is kept',
    patches: [
      {
        file: 'src/executions/ledger/ledger-cache.ts',
        find: '    await ledger.commit(server, { entries,',
        replace: '    apply(change);\n    await ledger.commit(server, { entries,',
      },
    ],
    shownBy: '--seed=4 --cards=full_disk@97572+45000,kill@135278+120000 --length=180000 --projects=1 --traces=off',
  },
  {
    name: 'rows that come again count again',
    patches: [
      {
        file: 'src/executions/counting/reconcile.ts',
        find: 'return !isOneOf(known.get(row.id), entry);',
        replace: 'return known.size >= 0;',
      },
    ],
    shownBy: '--seed=1 --cards= --length=168000 --projects=1 --traces=off',
  },
  {
    name: 'a trace is sent again after a restart',
    patches: [
      {
        file: 'src/tracing/enrich/enricher.ts',
        find: 'toForgetting(pending),\n      ...forgotten.documents,',
        replace: '...(toForgetting(pending).key === "" ? [] : forgotten.documents),',
      },
    ],
    shownBy: '--seed=3 --cards=kill@200000+10000 --length=300000',
  },
  {
    name: 'a request that is too large is sent again as it is',
    patches: [
      {
        file: 'src/tracing/deliver/selection.ts',
        find: 'if (!isLost || !batchSize.lost()) return isSuspect;',
        replace: 'if (isSuspect || batch.length > 0) return isSuspect;',
      },
    ],
    shownBy:
      '--seed=3 --cards=collector_refuses@100000+60000,flood@110000+30000,collector_resets_large_bodies@161000+1000 --length=192000 --projects=1 --traces=root',
  },
  ...conditionPlants,
];
