import type { Api } from '../../api/client.ts';
import { jobSections } from '../../api/endpoints/job-sections.ts';
import { jobDefinition, jobInfo } from '../../api/endpoints/jobs.ts';
import { projectNodes } from '../../api/endpoints/nodes.ts';
import { pluginList } from '../../api/endpoints/plugins.ts';
import { storedKeys, storedKeysBelow } from '../../api/endpoints/storage.ts';
import { ApiError, isOfWholeServer } from '../../api/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Area } from './deciding/areas.ts';
import { areas as areaNames } from './deciding/kinds.ts';

export type Asking = {
  /** Sends the requests that are due. The responses arrive through `receive`, like the responses of all polls. */
  readonly read: (api: Api, signal: AbortSignal) => Promise<void>;
  /** Call for each reading that was received. For a folder of keys, pass its subfolders. */
  readonly noteHeard: (area: string, folders?: readonly string[]) => void;
  /** Makes the next run read the definition of a job. */
  readonly hurry: (jobId: string) => void;
  /** Immediately reads the data that explains a failure: definitions, and keys if a login was refused. */
  readonly readFor: (api: Api, jobIds: readonly string[], isLoginRefused: boolean) => Promise<void>;
  /** Returns why an area could not be read; undefined if it could be read. */
  readonly refusalOf: (area: string) => string | undefined;
};

type Options = {
  readonly clock: Pick<Clock, 'ticks'>;
  readonly areas: ReadonlyMap<string, Area>;
  readonly requestsPerSecond: number;
  readonly settings: {
    readonly isWantedProject: (project: string) => boolean;
    readonly isWantedJob: (jobPath: string) => boolean;
  };
};

/** Requests data that no other poll reads: nodes, keys and definitions. */
export function createAsking({ clock, areas, requestsPerSecond, settings }: Options): Asking {
  const heardTicks = new Map<string, number>();
  const refusals = new Map<string, string>();
  const folders = new Map<string, readonly string[]>();
  const urgent = new Set<string>();
  let hurriedTicks = Number.NEGATIVE_INFINITY;
  const definitionsPerRun = Math.max(1, Math.min(maxDefinitions, Math.floor(requestsPerSecond)));

  const isDue = (area: string, everyMs: number) => clock.ticks() - (heardTicks.get(area) ?? -Infinity) >= everyMs;

  /** Requests an area. After an error, the area is requested again when due, or in the next run if the server was down. */
  async function ask(area: string, request: () => Promise<unknown>): Promise<void> {
    heardTicks.set(area, clock.ticks());
    try {
      await request();
      refusals.delete(area);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusals.set(area, toReason(error));
      if (!isOfWholeServer(error)) return;
      if (!mayBeTooMuch(error)) heardTicks.delete(area);
      throw new ServerAway();
    }
  }

  async function askKeys(api: Api): Promise<void> {
    if (isDue(areaNames.keysIn(''), keysEveryMs)) await ask(areaNames.keysIn(''), () => api.get(storedKeys));
    const known = [...folders.values()].flat().slice(0, maxAllFolders);
    const due = known.filter((folder) => isDue(areaNames.keysIn(folder), keysEveryMs));
    for (const folder of due.slice(0, maxFolders))
      await ask(areaNames.keysIn(folder), () => api.get(storedKeysBelow, { path: { folder: folder.split('/') } }));
  }

  async function askDefinitions(api: Api, ids: Iterable<string>): Promise<void> {
    const format = (await api.supports(jobDefinition)) ? 'json' : 'yaml';
    for (const id of [...new Set(ids)].slice(0, definitionsPerRun)) {
      // The list of jobs may be older than an edit.
      if (urgent.has(id)) await ask(areaNames.editOf(id), () => api.get(jobInfo, { path: { id } }));
      urgent.delete(id);
      await ask(areaNames.definitionOf(id), () => api.get(jobSections, { path: { id }, query: { format } }));
    }
  }

  const due: Due = { areas, isDue, ask, ...settings };

  async function whileThere(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ServerAway)) throw error;
    }
  }

  return {
    read: (api, signal) =>
      whileThere(async () => {
        await askKeys(api);
        if (!signal.aborted) await askNodes(api, due);
        if (!signal.aborted) await askPlugins(api, due);
        if (!signal.aborted) await askDefinitions(api, [...urgent, ...listDueDefinitions(due)]);
      }),
    readFor: (api, jobIds, isLoginRefused) =>
      whileThere(async () => {
        const wanted = jobIds.filter((id) => urgent.has(id));
        if (wanted.length > 0) await askDefinitions(api, wanted);
        // A job that fails repeatedly must not cause repeated requests.
        if (!isLoginRefused || clock.ticks() - hurriedTicks < hurryEveryMs) return;
        hurriedTicks = clock.ticks();
        for (const area of heardTicks.keys()) if (area.startsWith(areaNames.keysIn(''))) heardTicks.delete(area);
        await askKeys(api);
      }),
    noteHeard: (area, shown) => {
      heardTicks.set(area, clock.ticks());
      if (shown !== undefined) folders.set(area, shown);
    },
    hurry: (jobId) => void urgent.add(jobId),
    refusalOf: (area) => refusals.get(area),
  };
}

/** An error that vital polls report. */
class ServerAway extends Error {}

function mayBeTooMuch({ kind, details }: ApiError): boolean {
  return kind === 'timeout' && details.unsent !== true;
}

type Due = Options['settings'] & {
  readonly areas: ReadonlyMap<string, Area>;
  readonly isDue: (area: string, everyMs: number) => boolean;
  readonly ask: (area: string, request: () => Promise<unknown>) => Promise<void>;
};

async function askNodes(api: Api, { areas, isDue, ask, isWantedProject }: Due): Promise<void> {
  const wanted = listProjects(areas).filter(isWantedProject);
  const due = wanted.filter((project) => isDue(areaNames.nodesOf(project), nodesEveryMs));
  for (const project of due.slice(0, maxProjects))
    await ask(areaNames.nodesOf(project), () =>
      api.get(projectNodes, { path: { project }, query: { format: 'json' } }),
    );
}

/** Requests plugins, which change only when a server starts. Members of a cluster may have different plugins. */
async function askPlugins(api: Api, { areas, isDue, ask }: Due): Promise<void> {
  const [server, ...others] = areas.get(areaNames.server)?.things.values() ?? [];
  const readMs = areas.get(areaNames.plugins)?.readMs ?? Number.NEGATIVE_INFINITY;
  const isOld = server !== undefined && others.length === 0 && Number(server['start'] ?? Number.NaN) > readMs;
  if (isOld && isDue(areaNames.plugins, minuteMs) && (await api.supports(pluginList)))
    await ask(areaNames.plugins, () => api.get(pluginList));
}

function listProjects(areas: ReadonlyMap<string, Area>): readonly string[] {
  return [...(areas.get(areaNames.projects)?.things.keys() ?? [])];
}

/**
 * Lists the definitions to read: definitions never read, and definitions of jobs that were saved later. If the list of jobs has
 * no save times, lists definitions that were read long ago.
 */
function* listDueDefinitions({ areas, isDue, isWantedJob }: Due) {
  for (const [key, { things }] of areas) {
    if (!key.startsWith(areaNames.jobsOf(''))) continue;
    const project = key.slice(areaNames.jobsOf('').length);
    for (const [id, fields] of things) {
      if (!isWantedJob(`${project}/${fields['path']}`)) continue;
      const name = areaNames.definitionOf(id);
      const known = areas.get(name);
      const modified = fields['.modified'];
      const isTouched = known !== undefined && modified !== undefined && Number(modified) > known.readMs;
      const isSettled = known !== undefined && modified !== undefined && !isTouched;
      const everyMs = isTouched ? minuteMs : known === undefined ? retryMs : dayMs;
      if (!isSettled && isDue(name, everyMs)) yield id;
    }
  }
}

function toReason({ kind, message }: ApiError): string {
  return reasons[kind] ?? message;
}

const reasons: Readonly<Partial<Record<ApiError['kind'], string>>> = {
  forbidden: 'the token cannot read it',
  unauthorized: 'the token cannot read it',
  not_found: 'the server does not show it',
  unsupported_version: 'the API version in use does not offer it',
  timeout: 'the server did not respond in time',
};

const minuteMs = 60_000;
const nodesEveryMs = 15 * minuteMs;
const keysEveryMs = 60 * minuteMs;
const hurryEveryMs = 5 * minuteMs;
const retryMs = 60 * minuteMs;
const dayMs = 24 * 60 * minuteMs;
const maxProjects = 20;
const maxFolders = 20;
const maxAllFolders = 200;
const maxDefinitions = 10;
