import type { Area, Difference, Fields } from './areas.ts';
import type { Change } from './change.ts';

/** Returns the names of areas. The first word is the kind. */
export const areas = {
  projects: 'projects',
  server: 'server',
  plugins: 'plugins',
  /** The beginning of the areas with the switches of a project on older servers. */
  modesOf: (project: string) => `modes ${project}/`,
  jobsOf: (project: string) => `jobs ${project}`,
  nodesOf: (project: string) => `nodes ${project}`,
  /** A folder of the key storage, without `keys/`; empty for the top level. */
  keysIn: (folder: string) => `keys ${folder}`,
  definitionOf: (id: string) => `definition ${id}`,
  /** The time and the user of the last edit of a job, as read after the list of its project. */
  editOf: (id: string) => `edit ${id}`,
} as const;

export function toChanges(area: string, given: Given, differences: readonly Difference[]): Change[] {
  const [type = '', ...rest] = area.split(' ');
  const translate = translations.get(type);
  if (translate === undefined) return [];
  const about = { ...given, name: rest.join(' ') };
  return differences.flatMap((difference) =>
    translate(difference, about).map((found) => ({ ...toTimes(difference), ...found })),
  );
}

function toTimes({ afterMs, beforeMs, after }: Difference): Pick<Change, 'afterMs' | 'beforeMs' | 'atMs' | 'by'> {
  const atMs = Number(after?.['.at'] ?? Number.NaN);
  const by = after?.['.by'];
  // A reported time that is not between the two readings belongs to another change, or comes from a wrong clock.
  const isOfChange = atMs > afterMs - maxSkewMs && atMs <= beforeMs + maxSkewMs;
  return { afterMs, beforeMs, ...(isOfChange ? { atMs } : {}), ...(isOfChange && by !== undefined ? { by } : {}) };
}

export type ListedJob = { readonly project: string; readonly path: string; readonly fields: Fields };

type Given = Pick<Area, 'sinceMs'> & {
  readonly jobOf: (id: string) => ListedJob | undefined;
  /** Reports whether an area was read up to a time. Areas that were not read for a month are forgotten. */
  readonly wasRead: (area: string, byMs: number) => boolean;
};
/** The maximum difference between the clocks of members. */
const maxSkewMs = 120_000;

type About = Given & { readonly name: string };
type Found = Omit<Change, 'afterMs' | 'beforeMs'> & Partial<Change>;
type Translate = (difference: Difference, about: About) => readonly Found[];

const unlisted = 'no longer listed';
/** The job could not be read for a while, or was deleted and imported again. */
const relisted = 'listed again';

function toJobChanges({ id, before, after, changed, afterMs }: Difference, about: About): readonly Found[] {
  const { name: project, wasRead } = about;
  const path = after?.['path'] ?? before?.['path'] ?? '';
  const subject = `${project}/${path}`;
  // If a new job fails immediately, its definition is read before the list.
  const what = wasRead(areas.definitionOf(id), afterMs) ? relisted : 'created';
  if (before === undefined) return [{ kind: 'job', project, subject, what }];
  if (after === undefined) return [{ kind: 'job', project, subject, what: unlisted }];
  return changed.map((field): Found => {
    const [old = '', value = ''] = [before[field], after[field]];
    if (field === 'path') return { kind: 'job', project, subject, what: toMove(old, value) };
    if (field === 'owner') return { kind: 'owner', project, subject, what: `its schedule moved to member ${value}` };
    return { kind: 'switch', project, subject, what: `${field} switched ${value}` };
  });
}

function toMove(old: string, path: string): string {
  const toGroup = (text: string): string => text.slice(0, text.lastIndexOf('/') + 1);
  return toGroup(old) === toGroup(path) ? `renamed, was ${old}` : `moved, was ${old}`;
}

/** Returns the path of a job before it was renamed or moved; undefined for other changes. */
export function toFormerPath({ kind, project, what }: Pick<Change, 'kind' | 'project' | 'what'>): string | undefined {
  const [, old] = (kind === 'job' ? /^(?:renamed|moved), was (.*)$/s.exec(what) : undefined) ?? [];
  return old === undefined ? undefined : `${project}/${old}`;
}

/**
 * Replaces earlier names of jobs in changes by present names. The list begins with the newest name, because names may be reused.
 */
export function toPresentNames(changes: readonly Change[]) {
  const names = new Map<string, string>();
  const nameOf = (path: string): string => names.get(path) ?? path;
  const renamed = changes.map((change) => {
    const subject = nameOf(change.subject);
    const former = toFormerPath(change);
    if (former !== undefined) {
      names.delete(change.subject);
      names.set(former, subject);
    }
    return subject === change.subject ? change : { ...change, subject };
  });
  return { changes: renamed, nameOf };
}

function toProjectChanges({ id, before, after, changed, afterMs }: Difference, about: About): readonly Found[] {
  const found = { kind: 'project', project: id, subject: id } as const;
  if (before === undefined)
    return [{ ...found, what: about.wasRead(areas.jobsOf(id), afterMs) ? relisted : 'first listed' }];
  if (after === undefined) return [{ ...found, what: unlisted }];
  return changed.map((field) => ({ ...found, what: `${field} switched ${after[field]}` }));
}

function toServerChanges({ before, after, changed }: Difference, { sinceMs }: About): readonly Found[] {
  const subject = after?.['.name'] ?? '';
  const startMs = Number(after?.['start'] ?? Number.NaN);
  // A member that is seen for the first time may have existed before.
  if (before === undefined)
    return startMs > sinceMs ? [{ kind: 'member', project: '', subject, what: 'joined', atMs: startMs }] : [];
  const isRestart = Math.abs(startMs - Number(before['start'])) > maxDriftMs;
  const at = isRestart ? { atMs: startMs } : {};
  return changed.flatMap((field): readonly Found[] => {
    const [old, value] = [before[field], after?.[field]];
    const found = { project: '', subject };
    if (field === 'release') return [{ ...found, kind: 'release', what: `${old} → ${value}`, ...at }];
    if (field === 'start') return isRestart ? [{ ...found, kind: 'restart', what: 'restarted', ...at }] : [];
    return [{ ...found, kind: 'mode', what: `${value}, was ${old}` }];
  });
}

/** The maximum variation of a start. Some releases compute the start from the uptime, with small variations. */
const maxDriftMs = 60_000;

function toPluginChanges({ id, before, after }: Difference): readonly Found[] {
  const found = { kind: 'plugin', project: '', subject: id } as const;
  if (before === undefined) return [{ ...found, what: 'installed' }];
  if (after === undefined) return [{ ...found, what: 'removed' }];
  return [{ ...found, what: `${before['version']} → ${after['version']}` }];
}

function toKeyChanges({ id, before, after, changed, afterMs }: Difference): readonly Found[] {
  const found = { kind: 'key', project: /^keys\/project\/([^/]+)\//.exec(id)?.[1] ?? '', subject: id } as const;
  const isOld = Number(after?.['.at'] ?? Number.NaN) < afterMs - maxSkewMs;
  if (before === undefined) return [{ ...found, what: isOld ? relisted : 'new' }];
  if (after === undefined) return [{ ...found, what: unlisted }];
  return changed.length === 0 ? [] : [{ ...found, what: changed.includes('type') ? 'changed its type' : 'changed' }];
}

function toNodeChanges({ id, before, after, changed }: Difference, { name: project }: About): readonly Found[] {
  const found = { kind: 'node', project, subject: id } as const;
  if (before === undefined) return [{ ...found, what: 'new' }];
  if (after === undefined) return [{ ...found, what: unlisted }];
  return changed.length === 0 ? [] : [{ ...found, what: `${changed.join(', ')} changed` }];
}

/** Returns the changes of a definition, which counts as one thing although its sections may appear and disappear. */
function toDefinitionChanges({ before, after, changed, ...times }: Difference, about: About): readonly Found[] {
  const job = about.jobOf(about.name);
  if (job === undefined || before === undefined || after === undefined || changed.length === 0) return [];
  const { project, path, fields } = job;
  const found = {
    kind: 'definition',
    project,
    subject: `${project}/${path}`,
    what: `${changed.join(', ')} changed`,
  } as const;
  const modifiedMs = Number(fields['.modified'] ?? Number.NaN);
  if (!(modifiedMs > times.afterMs && modifiedMs <= times.beforeMs)) return [found];
  const by = fields['.by'];
  // Switches and imports also set the time of the edit, so the edit may be earlier.
  return [{ ...found, beforeMs: modifiedMs, ...(by === undefined ? {} : { by }) }];
}

const translations: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ['projects', toProjectChanges],
  ['modes', toProjectChanges],
  ['server', toServerChanges],
  ['plugins', toPluginChanges],
  ['jobs', toJobChanges],
  ['keys', toKeyChanges],
  ['nodes', toNodeChanges],
  ['definition', toDefinitionChanges],
]);

export function toFields(values: Readonly<Record<string, string | undefined>>): Fields {
  // This cast is safe: undefined values are left out.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Fields;
}
