import type { JobNames } from '../../domain/execution.ts';
import type { Surroundings } from '../../domain/failure-class.ts';
import { ofJobPath, toJobPath } from '../../domain/job.ts';
import type { Area } from './deciding/areas.ts';
import type { Change } from './deciding/change.ts';
import type { CommonCause } from './deciding/common-cause.ts';
import { areas as areaNames } from './deciding/kinds.ts';
import { isBetween } from './deciding/suspects.ts';
import type { KeptJournal } from './kept-journal.ts';

type WatchedJob = Parameters<Surroundings['causeOf']>[0];

type Options = {
  readonly kept: Pick<KeptJournal, 'areas' | 'journal'>;
  readonly cause: () => CommonCause | undefined;
  readonly memberName: (uuid: string) => string;
};

/** Returns the things that jobs depend on. Slow searches are made once for each state of the journal. */
export function createSurroundings({ kept, cause, memberName }: Options): () => Surroundings {
  let of: unknown;
  let found: Found | undefined;
  return () => {
    if (found === undefined || of !== kept.journal()) {
      of = kept.journal();
      found = findAll(kept);
    }
    return toSurroundings(found, { cause: cause(), memberName });
  };
}

type Found = {
  readonly areas: KeptJournal['areas'];
  readonly keyAreas: readonly Area[];
  readonly jobs: ReadonlyMap<string, JobNames>;
  /** The time at which each node disappeared from the list, by project and name. */
  readonly unlistedMs: ReadonlyMap<string, number>;
  /** Changes that may let a refused job log in again. */
  readonly repairs: readonly Change[];
  readonly areDefinitionsRead: boolean;
  readonly areKeysRead: boolean;
  readonly areNodesRead: boolean;
};

function findAll({ areas, journal }: Options['kept']): Found {
  const jobs = new Map<string, JobNames>();
  const read = { areDefinitionsRead: false, areKeysRead: false, areNodesRead: false };
  for (const [area, { things }] of areas) {
    if (area.startsWith(areaNames.definitionOf(''))) read.areDefinitionsRead = true;
    if (area.startsWith(areaNames.nodesOf(''))) read.areNodesRead = true;
    if (area.startsWith(areaNames.keysIn('')) && things.size > 0) read.areKeysRead = true;
    if (!area.startsWith(areaNames.jobsOf(''))) continue;
    const project = area.slice(areaNames.jobsOf('').length);
    for (const [id, { path = '' }] of things) jobs.set(id, ofJobPath(`${project}/${path}`));
  }
  const unlistedMs = new Map<string, number>();
  const repairs: Change[] = [];
  for (const change of [...journal().sheets.values()].flat()) {
    const { kind, project, subject, beforeMs } = change;
    if (kind === 'node') unlistedMs.set(toKey(project, subject), beforeMs);
    if (kind === 'node' || kind === 'key' || kind === 'definition') repairs.push(change);
  }
  const keyAreas = [...areas].flatMap(([area, of]) => (area.startsWith(areaNames.keysIn('')) ? [of] : []));
  return { areas, keyAreas, jobs, unlistedMs, repairs, ...read };
}

function toSurroundings(found: Found, { cause, memberName }: Now): Surroundings {
  const { areas, keyAreas, jobs, unlistedMs, repairs, areDefinitionsRead, areKeysRead, areNodesRead } = found;
  const listed = (jobId: string, field: string): readonly string[] | undefined => {
    const text = areas.get(areaNames.definitionOf(jobId))?.things.get('')?.[field];
    return text === undefined ? undefined : toLines(text);
  };
  const childrenOf = (jobId: string): readonly JobNames[] => {
    const children = listed(jobId, '.children') ?? [];
    return children.flatMap((child) => jobs.get(child) ?? toNamed(child, jobs.get(jobId)?.project));
  };

  function hasCause(job: WatchedJob, { kind, subject }: CommonCause): boolean {
    if (kind === 'node') return Object.hasOwn(job.nodes ?? {}, subject);
    if (kind === 'member') return job.ownerUuid !== undefined && memberName(job.ownerUuid) === subject;
    if (kind === 'child') return childrenOf(job.id).some((child) => toJobPath(child) === subject);
    if (kind === 'key') return listed(job.id, '.keys')?.includes(subject) === true;
    if (kind === 'project') return job.project === subject;
    return kind === 'trigger' && subject === 'scheduled';
  }

  return {
    areDefinitionsRead,
    areKeysRead,
    areNodesRead,
    jobs,
    childrenOf,
    keysOf: (jobId) => listed(jobId, '.keys') ?? [],
    nodeCountOf: (project) => areas.get(areaNames.nodesOf(project))?.things.size,
    nodeGoneMs: (project, node) => {
      const isListed = areas.get(areaNames.nodesOf(project))?.things.has(node);
      return isListed === false ? unlistedMs.get(toKey(project, node)) : undefined;
    },
    accessUnchangedMs: (job, sinceMs) => {
      const untilMs = Math.min(...keyAreas.map(({ readMs }) => readMs));
      const named = [job.id, ...(listed(job.id, '.children') ?? [])].flatMap((id) => listed(id, '.keys') ?? []);
      const nodes = areas.get(areaNames.nodesOf(job.project))?.things;
      const ofNodes = Object.keys(job.nodes ?? {}).flatMap((node) => toLines(nodes?.get(node)?.['.keys']));
      const isHidden = (key: string): boolean => !keyAreas.some(({ things }) => things.has(key));
      if (!areKeysRead || untilMs < sinceMs || [...named, ...ofNodes].some(isHidden)) return undefined;
      const keys = named.length === 0 ? [] : [...named, ...ofNodes];
      const access = { paths: [job, ...childrenOf(job.id)].map(toJobPath), keys };
      const hasChanged = repairs.some(
        (change) => isBetween(change, sinceMs, Number.POSITIVE_INFINITY) && mayLetIn(change, job, access),
      );
      return hasChanged ? undefined : untilMs;
    },
    causeOf: (job) => (cause !== undefined && hasCause(job, cause) ? cause : undefined),
  };
}

type Now = { readonly cause: CommonCause | undefined } & Pick<Options, 'memberName'>;

/** Reports whether a change may let a refused job log in. If the keys are unknown, any key may be the refused one. */
function mayLetIn({ kind, project, subject }: Change, job: WatchedJob, { paths, keys }: Access): boolean {
  if (kind === 'definition') return paths.includes(subject);
  if (kind === 'node') return project === job.project && Object.hasOwn(job.nodes ?? {}, subject);
  return keys.length === 0 || keys.includes(subject) || project === job.project;
}

/** The paths of a job and of the jobs in its steps, and their keys. */
type Access = { readonly paths: readonly string[]; readonly keys: readonly string[] };

function toLines(text = ''): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Converts a reference by name. A reference without a project is to the same project. */
function toNamed(path: string, project: string | undefined): readonly JobNames[] {
  return project === undefined ? [] : [ofJobPath(`${project}/${path}`)];
}

function toKey(project: string, node: string): string {
  return JSON.stringify([project, node]);
}
