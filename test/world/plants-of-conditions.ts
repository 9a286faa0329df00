import type { Plant } from './plants.ts';

/** Faults that need a reload, hidden rows, small pages or a stopped process. */
export const conditionPlants: readonly Plant[] = [
  {
    name: 'what was left out of the configuration counts',
    patches: [
      {
        file: 'src/executions/reading/plan-projects.ts',
        find: 'return isExcluded && begunMs !== undefined ? [toNewProject(state.project, begunMs)] : [];',
        replace:
          'return isExcluded && begunMs !== undefined ? [(({ hold: _hold, heldSinceMs: _since, ...kept }) => kept)(state)] : [];',
      },
    ],
    shownBy: '--seed=2 --cards=exclude_project@120000+200000 --length=400000 --projects=1 --traces=off',
  },
  {
    name: 'a job that was left out counts later',
    patches: [
      {
        file: 'src/executions/counting/reconcile.ts',
        find: 'if (isWanted(toJobName(row))) counted.push(row);',
        replace: 'if (isWanted(toJobName(row))) counted.push(row);\n    else entries.pop();',
      },
    ],
    shownBy: '--seed=2 --cards=exclude_job@100000+200000 --length=400000 --projects=1 --traces=off',
  },
  {
    name: 'a short page is the last',
    patches: [
      {
        file: 'src/api/paging.ts',
        find: 'return max === undefined || max < Math.max(1, items.length) ? asked : Math.min(asked, max);',
        replace: 'return asked + 0 * (max ?? items.length);',
      },
    ],
    shownBy: '--seed=2 --cards=small_pages@90000+800000,flood@120000+45000 --length=900000 --projects=1 --traces=off',
  },
  {
    name: 'a reload begins before the polls of before have ended',
    patches: [{ file: 'src/daemon/single.ts', find: 'await stopGeneration(old, onFault);', replace: 'void old;' }],
    shownBy: '--seed=2 --cards=nobody_counts@100000+60000 --length=400000 --projects=2 --traces=off',
  },
  {
    name: 'a window reaches back for a minute',
    patches: [
      {
        file: 'src/executions/reading/plan-reads.ts',
        find: 'const sinceMs = Math.min(Math.max(againMs, countedFromMs), fromMs);',
        replace: 'const sinceMs = Math.max(Math.min(Math.max(againMs, countedFromMs), fromMs), nowMs - 130_000);',
      },
    ],
    shownBy: '--seed=2 --cards=hold@100000+240000 --length=400000 --projects=1 --traces=off',
  },
  {
    name: 'a page with hidden rows is the last',
    patches: [
      {
        file: 'src/api/paging.ts',
        find: 'return total <= pageSize && items.length < pageSize;',
        replace: 'return total < 0 || items.length < pageSize;',
      },
    ],
    shownBy: '--seed=2 --cards=hide_job@90000+1300000,flood@120000+45000 --length=600000 --projects=1 --traces=off',
  },
  {
    name: 'a run without a series of its own counts nowhere',
    patches: [
      {
        file: 'src/executions/counting/measure.ts',
        find: `touch('runs', [project, owner.group, owner.name, ending]).count += 1;`,
        replace: `touch('runs', [project, owner.group, owner.name, ending]).count += owner.name === otherJobs ? 0 : 1;`,
      },
    ],
    shownBy: '--seed=2 --cards=fewer_series@90000+600000,flood@180000+45000 --length=600000 --projects=1 --traces=off',
  },
  {
    name: 'times of an older release are used as they are',
    patches: [
      {
        file: 'src/executions/ledger/ledger-documents.ts',
        find: `name.endsWith('Ms') && typeof value === 'number' ? Math.floor(value) : value,`,
        replace: 'value,',
      },
      {
        file: 'src/api/endpoint.ts',
        find: `query.append(name, typeof each === 'number' ? toWholeNumber(endpoint.name, name, each) : String(each));`,
        replace: 'query.append(name, String(each));',
      },
    ],
    shownBy: '--seed=2 --cards=upgrade@150000+10000 --length=300000 --projects=1 --traces=off',
  },
  {
    name: 'the last week is never compared',
    patches: [
      {
        file: 'src/executions/recount/recount.ts',
        find: 'const isWeek = toWeekDueMs(state, nowMs) <= nowMs;',
        replace: 'const isWeek = toWeekDueMs(state, nowMs) < 0;',
      },
    ],
    shownBy: '--days=5 --seed=1 --cards=hide_job@20000000+180000000',
  },
  {
    name: 'the ledger forgets after two days',
    patches: [
      {
        file: 'src/executions/open-round.ts',
        find: 'const keepMs = Math.max(minKeptMs, catchUpLimitMs, backfillMs) + dayMs;',
        replace: 'const keepMs = 2 * dayMs;',
      },
      {
        file: 'src/executions/ledger/count-executions.ts',
        find: 'countedFromMs: Math.max(state.countedFromMs, prunedThroughMs)',
        replace: 'countedFromMs: state.countedFromMs',
      },
    ],
    shownBy: '--days=4 --seed=1 --cards=',
  },
  {
    name: 'a quiet night is an edit',
    patches: [
      {
        file: 'src/expected-runs/deciding/join-answer.ts',
        find: `return isQuiet && isOutOfStep(before.timesMs, answer.timesMs) ? 'unknown' : 'same';`,
        replace: `return isQuiet ? 'edited' : 'same';`,
      },
    ],
    shownBy: '--days=4 --seed=3 --cards=passive@90000000+40000000',
  },
  {
    name: 'an id of the database before is a known run',
    patches: [
      {
        file: 'src/executions/counting/reconcile.ts',
        find: 'return !isOneOf(known.get(row.id), entry);',
        replace: 'return !known.has(row.id);',
      },
    ],
    shownBy: '--seed=1 --cards=new_database@167904+45000 --length=168000 --projects=1 --traces=off',
  },
  {
    name: 'a window begins at the newest end',
    patches: [
      {
        file: 'src/executions/reading/window-reader.ts',
        find: 'const { answer, serverMs } = await api.getTimed(projectExecutions, { path: { project }, query });',
        replace: `const newest = ((globalThis as { newest?: Map<string, number> }).newest ??= new Map());
    const sinceMs = Math.max(query.begin, (newest.get(project) ?? 0) - 120_000);
    const late = { ...query, begin: sinceMs, end: query.end + 86_400_000 };
    const { answer, serverMs } = await api.getTimed(projectExecutions, { path: { project }, query: late });
    for (const { endedAtMs = 0 } of answer.items) newest.set(project, Math.max(newest.get(project) ?? 0, endedAtMs));`,
      },
    ],
    shownBy: '--seed=1',
  },
  {
    name: 'ids are forgotten at once',
    patches: [
      {
        file: 'src/executions/ledger/ledger-cache.ts',
        find: '    apply(change);',
        replace: `    apply(change);
    for (const { project, scannedThroughMs } of change.states ?? [])
      await ledger.commit(server, { prune: { project, endedBeforeMs: scannedThroughMs - 30_000 } });`,
      },
    ],
    shownBy: '--seed=1 --cards= --length=168000 --projects=1 --traces=off',
  },
  {
    name: 'a new project begins at its first list',
    patches: [
      {
        file: 'src/executions/reading/plan-projects.ts',
        find: 'Math.min(beforeMs, nowMs) - skewMs;',
        replace: 'nowMs;',
      },
    ],
    shownBy: '--seed=8 --cards=newcomer@211429+60000 --length=288000 --projects=1 --traces=off --release=6.0.0',
  },
];
