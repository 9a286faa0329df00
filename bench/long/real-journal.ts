import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ListedRow, RealServer } from './real-server.ts';

/** The notes of `real-recorder` about a day. */
export type Journal = {
  readonly readings: readonly Reading[];
  /** The last known row of each execution. */
  readonly executions: ReadonlyMap<number, Recorded>;
  readonly jobs: readonly JobNote[];
  readonly projects: readonly ProjectNote[];
  readonly spans: readonly SpanNote[];
};

export type Cpu = { readonly pid: number; readonly cpuMs: number } | null;
type Reading = {
  readonly atMs: number;
  readonly failed?: string;
  readonly mode?: string;
  readonly sinceMs?: number;
  readonly running?: number;
  readonly threads?: number;
  readonly server?: Cpu;
  readonly exporter?: Cpu;
};
export type Recorded = {
  readonly firstAtMs: number;
  /** All seen rows of the execution. */
  readonly rows: readonly ListedRow[];
  readonly row: ListedRow;
  readonly state: { readonly steps: readonly StepNote[]; readonly serverNode: string } | null;
  readonly workflow: readonly WorkflowNote[] | null;
};
export type StepNote = {
  readonly stepctx: string;
  readonly nodeStep: boolean;
  readonly executionState: string;
  readonly startTime: string | null;
  readonly duration: number;
  readonly nodeStates?: Readonly<Record<string, NodeNote>>;
  readonly workflow?: { readonly steps: readonly StepNote[] };
  readonly parameterStates?: Readonly<Record<string, StepNote>>;
};
export type NodeNote = Pick<StepNote, 'executionState' | 'startTime' | 'duration'>;
export type WorkflowNote = {
  readonly description?: string;
  readonly exec?: string;
  readonly script?: string;
  readonly type?: string;
  readonly jobref?: { readonly name: string };
  readonly workflow?: readonly WorkflowNote[];
  readonly errorhandler?: WorkflowNote;
};
export type JobNote = {
  readonly atMs: number;
  readonly project: string;
  readonly job: {
    readonly id: string;
    readonly name: string;
    readonly group: string | null;
    readonly scheduled: boolean;
    readonly scheduleEnabled: boolean;
    readonly enabled: boolean;
    readonly lastModified: string;
    readonly created: string;
  };
  readonly definition: {
    readonly multipleExecutions?: boolean;
    readonly timeZone?: string;
    readonly schedule?: {
      readonly crontab?: string;
      readonly month?: string;
      readonly year?: string;
      readonly dayofmonth?: { readonly day: string };
      readonly weekday?: { readonly day: string };
      readonly time?: { readonly hour: string; readonly minute: string; readonly seconds: string };
    };
  };
};
type ProjectNote = {
  readonly atMs: number;
  readonly project: string;
  readonly ids: readonly string[];
  readonly meta: readonly {
    readonly name: string;
    readonly data: { readonly executionsEnabled?: boolean; readonly scheduleEnabled?: boolean };
  }[];
};
export type SpanNote = {
  readonly atMs: number;
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly links: readonly Readonly<Record<string, string>>[];
};

/** Reports whether the exporter was running. */
export function isUp({ exporter }: Reading): boolean {
  return (exporter ?? null) !== null;
}

export function readJournal(folder: string): Journal {
  const executions = new Map<number, Recorded>();
  type Line = { readonly atMs: number } & Pick<Recorded, 'row' | 'state' | 'workflow'>;
  for (const { atMs, row, state, workflow } of readLines<Line>(folder, 'executions')) {
    const before = executions.get(row.id);
    executions.set(row.id, {
      firstAtMs: before?.firstAtMs ?? atMs,
      rows: [...(before?.rows ?? []), row],
      row,
      state: state ?? before?.state ?? null,
      workflow: workflow ?? before?.workflow ?? null,
    });
  }
  return {
    executions,
    readings: readLines(folder, 'readings'),
    jobs: readLines(folder, 'jobs'),
    projects: readLines(folder, 'projects'),
    spans: readLines(folder, 'spans'),
  };
}

function readLines<Line>(folder: string, name: string): readonly Line[] {
  const text = readFileSync(join(folder, `${name}.jsonl`), 'utf8');
  return text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Line] : []));
}

/** Reads the steps of an execution and their present definition. */
export async function readSteps(
  server: RealServer,
  { id, job }: ListedRow,
): Promise<Pick<Recorded, 'state' | 'workflow'>> {
  const state = await server.send(`47/execution/${String(id)}/state`);
  const workflow = job === undefined ? undefined : await server.send(`47/job/${job.id}/workflow`);
  return {
    state: state.status === 200 ? (JSON.parse(state.body) as Recorded['state']) : null,
    workflow: workflow?.status === 200 ? (JSON.parse(workflow.body) as Pick<Recorded, 'workflow'>).workflow : null,
  };
}

/** The result of one check of a day. */
export type Finding = { readonly what: string; readonly checked: number; readonly wrong: readonly string[] };
