import { type Completed, type Execution, endedAt, type Project, startedAt } from './installation.ts';

export function createProject(name: string, createdAtMs: number, tieOrder: 'start' | 'id'): Project {
  return {
    name,
    description: `The ${name} project`,
    label: '',
    createdAtMs,
    disabled: false,
    deleted: false,
    executionsEnabled: true,
    scheduleEnabled: true,
    config: new Map([
      ['project.name', name],
      ['resources.source.1.type', 'file'],
    ]),
    nodes: new Map(),
    jobs: new Map(),
    open: new Map(),
    completed: createCompleted(tieOrder),
  };
}

function createCompleted(tieOrder: 'start' | 'id'): Completed {
  let entries: Execution[] = [];
  const isBefore = (one: Execution, other: Execution) =>
    endedAt(one) - endedAt(other) ||
    (tieOrder === 'start' ? startedAt(one) - startedAt(other) : 0) ||
    one.id - other.id;

  return {
    add: (execution) => {
      let index = entries.length;
      while (index > 0 && isBefore(at(entries, index - 1), execution) > 0) index -= 1;
      entries.splice(index, 0, execution);
    },
    remove: (gone) => {
      entries = entries.filter((execution) => !gone.has(execution));
    },
    *between(beginMs, endMs) {
      const first = lowerBound(entries, beginMs);
      for (let index = lowerBound(entries, endMs + 1) - 1; index >= first; index -= 1) yield at(entries, index);
    },
    count: (beginMs, endMs) => Math.max(0, lowerBound(entries, endMs + 1) - lowerBound(entries, beginMs)),
    get size() {
      return entries.length;
    },
  };
}

function lowerBound(entries: readonly Execution[], timeMs: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endedAt(at(entries, middle)) < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function at(entries: readonly Execution[], index: number): Execution {
  const execution = entries[index];
  if (execution === undefined) throw new RangeError(`There is no finished execution at position ${index}.`);
  return execution;
}
