import type { Completed } from './completed.ts';
import { createCompleted } from './completed.ts';
import type { Execution } from './execution.ts';
import type { Job } from './job.ts';

export type NodeResource = Readonly<Record<string, string>>;

export type Project = {
  name: string;
  description: string;
  label: string;
  readonly createdAtMs: number;
  disabled: boolean;
  deleted: boolean;
  executionsEnabled: boolean;
  scheduleEnabled: boolean;
  readonly config: Map<string, string>;
  nodes: ReadonlyMap<string, NodeResource>;
  readonly jobs: Map<string, Job>;
  /** Running, waiting and future executions by id. */
  readonly open: Map<number, Execution>;
  readonly completed: Completed;
};

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
